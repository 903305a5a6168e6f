{{- define "amd.fullname" -}}
{{ .Release.Name }}-{{ .Chart.Name }}
{{- end -}}

{{- define "amd.selector" -}}
app.kubernetes.io/component: amd-gpu
app.kubernetes.io/part-of: amd-gpu
control-plane: controller-manager
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "amd.labels" -}}
app.kubernetes.io/component: amd-gpu
app.kubernetes.io/part-of: amd-gpu
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}
