{{- define "gpu-operator.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- /* In the template of every operand's pod, the driver's too: another chart version is another template. */ -}}
{{- define "gpu-operator.operand-labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/managed-by: {{ .Chart.Name }}
{{- with .Values.daemonsets.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}
