{{- define "web.labels" -}}
app: web
release: {{ .Release.Name }}
{{- end }}
