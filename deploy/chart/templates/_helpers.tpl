{{- define "vimbroker.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "vimbroker.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "vimbroker.labels" -}}
{{ include "vimbroker.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "vimbroker.serviceAccount" -}}
{{ default (ternary (include "vimbroker.name" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name }}
{{- end }}

{{- define "vimbroker.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ default .Chart.AppVersion .Values.image.tag }}{{ end }}
{{- end }}

{{/* Restricted Pod Security, and a root that is read only. */}}
{{- define "vimbroker.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "vimbroker.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "vimbroker.mounts" -}}
- {name: config, mountPath: /etc/vimbroker/config, readOnly: true}
- {name: tls, mountPath: /etc/vimbroker/tls, readOnly: true}
- {name: secrets, mountPath: /etc/vimbroker/secrets, readOnly: true}
{{- if .Values.tokens }}
- {name: tokens, mountPath: /etc/vimbroker/tokens, readOnly: true}
{{- end }}
{{- if .Values.policies }}
- {name: policies, mountPath: /etc/vimbroker/policies, readOnly: true}
{{- end }}
- {name: state, mountPath: /var/lib/vimbroker}
- {name: tmp, mountPath: /tmp}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The volumes but for the state: a list of one dict, of the context and the name of the configuration's ConfigMap. */}}
{{- define "vimbroker.volumes" -}}
- name: config
  configMap: {name: {{ .config }}, defaultMode: 0440, items: [{key: vimbroker.yaml, path: vimbroker.yaml}]}
- name: tls
  secret: {secretName: {{ .Values.tls.secretName }}, defaultMode: 0440}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
{{- range .Values.secrets }}
      - secret: {name: {{ .secretName }}, items: [{key: {{ .key }}, path: {{ .path }}}]}
{{- else }}
      []
{{- end }}
{{- with .Values.tokens }}
- name: tokens
  projected:
    defaultMode: 0440
    sources:
{{- range . }}
      - serviceAccountToken: {audience: {{ .audience }}, path: {{ .path }}, expirationSeconds: {{ .expirationSeconds | default 600 }}}
{{- end }}
{{- end }}
{{- if .Values.policies }}
- name: policies
  configMap: {name: {{ .config }}, defaultMode: 0440, items: [{{ range $i, $name := keys .Values.policies | sortAlpha }}{{ if $i }}, {{ end }}{key: {{ $name }}, path: {{ $name }}}{{ end }}]}
{{- end }}
- name: tmp
  emptyDir: {medium: Memory, sizeLimit: 64Mi}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "vimbroker.data" -}}
vimbroker.yaml: |
{{ toYaml .Values.config | indent 2 }}
{{- range $name, $text := .Values.policies }}
{{ $name }}: |
{{ $text | indent 2 }}
{{- end }}
{{- end }}
