{{- define "dra.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "dra.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default (printf "v%s" .Chart.Version)) | quote }}
{{- end }}
