# Runs a module of the payload in an image without Python, such as NVIDIA's CUDA runtime image:
#
#   sh with_python.sh IMAGE TERMINATION_LOG MODULE [ARGUMENT …]
#
# Python comes from the distribution's packages, and libibverbs and its providers with it: NCCL uses TCP sockets without
# them. As in tools.py nothing that the image has is upgraded, removed or unheld. Where that cannot be, the container
# ends with one sentence, and so the Job does: its next pod would take as long to say the same.
set -u
image=$1 termination_log=$2
shift 2
packages='python3 ibverbs-providers'

# Print what apt-get says, and keep it. The user _apt, to which it changes otherwise, needs capabilities that the
# container has not.
apt() {
    said=$(DEBIAN_FRONTEND=noninteractive timeout 150 apt-get -o APT::Sandbox::User=root "$@" 2>&1)
    code=$?
    printf '%s\n' "$said"
    [ "$code" -eq 0 ] || cause=$(first '^E: \(.*\)')
    [ "$cause" ] || cause="apt-get ended with code $code"
    return "$code"
}

# The group of a pattern of sed in the first line that it fits of what was said.
first() {
    printf '%s\n' "$said" | sed -n "s/$1.*/\\1/p" | head -n 1
}

install() {
    cause=
    apt update --quiet
    # Which list of packages is not to be had, apt-get tells as a warning.
    unreached=$(first '^W: \(Failed to fetch .*\)')
    set -- install --yes --no-install-recommends --no-upgrade --no-remove
    if apt "$@" --simulate $packages; then
        changed=$(first '^Inst \([^ ]*\) \[')$(first '^Remv \([^ ]*\) ')
        [ -z "$changed" ] ||
            give_up "that needs $changed in another version than the image has or holds, and that stays as it is"
        apt "$@" --quiet $packages && return
    fi
    cause=${unreached:-$cause}
    return 1
}

give_up() {
    text="image $image has no Python, and packages $packages could not be installed ($1): let the nodes reach the"
    text="$text packages of the image's distribution, or name an image with Python in validation.image"
    printf '%s\n' "$text" | tee "$termination_log"
    exit 1
}

there() {
    command -v "$1" >/dev/null
}

if ! there python3; then
    there apt-get || give_up 'the image has no apt-get'
    install || { sleep 10 && install; } || { sleep 10 && install; } || give_up "$cause"
fi
exec python3 -m "$@"
