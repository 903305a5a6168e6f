# Ends with 1, and says what to do, where the pod lacks one of the interfaces on InfiniBand that are named as arguments.
: "${SYS_CLASS:=/sys/class}" "${TOLD:=/dev/termination-log}"
wrong=""
for interface in "$@"; do
  if [ ! -e "$SYS_CLASS/net/$interface" ]; then
    wrong="${wrong}This pod has no interface $interface. Take metadata.annotations of podTemplate, on a pool in mode ipoib.
"
  elif [ "$(cat "$SYS_CLASS/net/$interface/operstate" 2>/dev/null)" = down ]; then
    wrong="${wrong}The interface $interface is down. Cordon this node, and ask aks-infiniband doctor.
"
  fi
done
[ -z "$wrong" ] && { echo "IPoIB: the pod has $*."; exit 0; }
printf '%s' "$wrong" >&2
printf '%s' "$wrong" 2>/dev/null >"$TOLD" || :
exit 1
