{{/* What the generated templates have in common. Arguments come as lists, because a template takes one. */}}

{{/* For each pool of a part, as JSON: the pool with its defaults, and the facts by which the table is read.
     Takes: root, part. */}}
{{- define "contexts" }}
{{- $root := index . 0 }}{{- $part := index . 1 }}{{- $found := list }}
{{- $known := $root.Files.Get "files/pools.json" | fromJson }}
{{- range $root.Values.pools }}
{{- $size := get $known.sizes .vmSize }}
{{- if not $size }}{{ fail (printf "pools: pool %s: vmSize is %s; it must be a size of the catalogue: %s" .name .vmSize (keys $known.sizes | sortAlpha | join ", ")) }}{{ end }}
{{- $mode := .mode | default $known.defaults.mode }}
{{- $way := get $known.modes $mode }}
{{- $own := dict "mode" $mode "rdmaResource" (.rdmaResource | default $way.rdmaResource) "deviceClass" (.deviceClass | default $known.defaults.deviceClass) }}
{{- $_ := set $own "nodeSelector" (.nodeSelector | default (dict $known.defaults.label .name)) }}
{{- $pool := merge $own (omit . "nodeSelector") (dict "taints" list) }}
{{- include "checked" (list $root $part $pool $way $known) }}
{{- $nic := .nicDriver | default $size.nicDriver }}
{{- $gpus := ternary "none" "offered" (eq (.gpuDriver | default $size.gpuDriver) "none") }}
{{- $facts := dict "like" $size.like "mode" $mode "gpus" $gpus }}
{{- $_ := set $facts "nic" (ternary $nic $known.defaults.anyNic $way.privileged) }}
{{- $_ := set $facts "classes" (ternary "own" "other" (eq $pool.deviceClass $known.defaults.deviceClass)) }}
{{- $_ := set $facts "count" (ternary "few" "more" (eq (int .count) (int $known.defaults.few))) }}
{{- $_ := set $facts "verdict" $root.Values.validation.mode }}
{{- $_ := set $facts "image" (ternary "given" "default" (not (empty $root.Values.validation.image))) }}
{{- if not (and (eq $part "lightCheck") $way.privileged) }}{{ $found = append $found (dict "pool" $pool "kind" $facts) }}{{ end }}
{{- end }}
{{- if and (eq $part "lightCheck") (not $found) }}{{ fail "lightCheck: every pool has mode driver-only, where no resource says which node is idle; leave lightCheck out" }}{{ end }}
{{- $found | toJson }}
{{- end }}

{{/* Nothing, or the end with what is wrong. Takes: root, part, pool, way, known. */}}
{{- define "checked" }}
{{- $root := index . 0 }}{{- $pool := index . 2 }}{{- $way := index . 3 }}
{{- if eq (index . 1) "lightCheck" }}
{{- if and $way.shared (ne $pool.rdmaResource $way.rdmaResource) }}{{ fail (printf "lightCheck: pool %s: rdmaResource is %s; by a resource that several pods share, only %s says which node is idle. Leave lightCheck out, or give the pool another release without it" $pool.name $pool.rdmaResource $way.rdmaResource) }}{{ end }}
{{- if and $way.claims (eq $root.Values.validation.mode "off") }}{{ fail (printf "lightCheck: pool %s: mode is %s and validation.mode is off; the pods' claims are made from a template of the validation, so validation.mode must be enforce or warn" $pool.name $pool.mode) }}{{ end }}
{{- end }}
{{- end }}

{{/* A value of the table, filled in: JSON, or nothing. Takes: root, table, context, name. */}}
{{- define "difference" }}
{{- $root := index . 0 }}{{- $table := index . 1 }}{{- $context := index . 2 }}
{{- $slot := get $table.slots (index . 3) }}{{- $key := list }}
{{- range $slot.by }}{{ $key = append $key (get $context.kind .) }}{{ end }}
{{- include "filled" (list $root $context (index $table.values (int (get $slot.values (join "/" $key))))) }}
{{- end }}

{{/* The names of the ConfigMaps in which the pods of a pool meet, as JSON. Takes: pool, what the names end in. */}}
{{- define "boards" }}
{{- $pool := index . 0 }}{{- $name := printf "%s%s" $pool.name (index . 1) }}{{- $found := list $name }}
{{- range $number := untilStep 1 (int (ceil (divf $pool.count PODS))) 1 }}{{ $found = append $found (printf "%s-%d" $name $number) }}{{ end }}
{{- $found | toJson }}
{{- end }}

{{/* A pool's tolerations, as JSON. */}}
{{- define "tolerations" }}
{{- $found := list }}
{{- range .taints }}
{{- $effect := regexFind "[^:]*$" . }}{{- $pair := splitn "=" 2 (trimSuffix (printf ":%s" $effect) .) }}
{{- $found = append $found (dict "key" $pair._0 "operator" "Equal" "value" ($pair._1 | default "") "effect" $effect) }}
{{- end }}
{{- $found | toJson }}
{{- end }}

{{/* A pool's labels as a selector of the API. */}}
{{- define "selector" }}
{{- $found := list }}{{- range $key, $value := .nodeSelector }}{{ $found = append $found (printf "%s=%s" $key $value) }}{{ end }}
{{- join "," $found }}
{{- end }}

{{/* A pool's labels as matchExpressions: JSON without the brackets of the list. */}}
{{- define "matches" }}
{{- $found := list }}
{{- range $key, $value := .nodeSelector }}{{ $found = append $found (dict "key" $key "operator" "In" "values" (list $value) | toJson) }}{{ end }}
{{- join "," $found }}
{{- end }}

{{- define "pullSecrets" }}
{{- if .Values.registry.pullSecret }}{{ list (dict "name" .Values.registry.pullSecret) | toJson }}{{ else }}[]{{ end }}
{{- end }}

{{/* An image from its maker, or from the registry that mirrors it. Takes: root, its mirrored name, its own name. */}}
{{- define "image" }}
{{- $root := index . 0 }}
{{- if $root.Values.registry.images }}{{ index . 1 | replace "MIRROR" $root.Values.registry.images }}{{ else }}{{ index . 2 }}{{ end }}
{{- end }}

{{/* The API group of the monitors. */}}
{{- define "monitors" }}
{{- get (.Files.Get "files/pools.json" | fromJson).groups .Values.observability.prometheus }}
{{- end }}

{{/* What a Job's name ends in. Takes: root, the Job's spec. */}}
{{- define "name-end" }}
{{- $root := index . 0 }}
{{- printf "%s%sPROGRAM" (index . 1) ($root.Values.validation.again | default "") | sha256sum | trunc 8 }}
{{- end }}
