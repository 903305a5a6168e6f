for unit in containerd kubelet; do
  folder=/etc/systemd/system/$unit.service.d
  file=$folder/90-aks-infiniband.conf
  wanted=$(printf '[Service]\nLimitMEMLOCK=infinity')
  if [ "$(cat "$file" 2>/dev/null)" != "$wanted" ]; then
    mkdir -p "$folder"
    printf '%s\n' "$wanted" >"$file"
  fi
  pid=$(systemctl show --property MainPID --value "$unit")
  grep -q '^Max locked memory *unlimited' "/proc/$pid/limits" && continue
  systemctl daemon-reload
  if [ "$(systemctl show --property LimitMEMLOCK --value "$unit")" != infinity ]; then
    echo "$unit: another drop-in sets its memlock limit" >&2
    exit 1
  fi
  systemctl restart "$unit"
  echo "$unit: restarted with an unlimited memlock limit"
done
