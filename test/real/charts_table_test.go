package real_test

const (
	prometheusCharts = "prometheus-community/helm-charts"
	bitnamiCharts    = "bitnami/charts"
	argoCharts       = "argoproj/argo-helm"
	gradiantCharts   = "Gradiant/5g-charts"
)

// bitnamiCommon is the library of Bitnami's charts.
func bitnamiCommon(before, after string) source {
	return source{bitnamiCharts, "bitnami/common", before, after}
}

// publicCharts are those that live whole. Each is of a repository under the Apache License 2.0.
var publicCharts = []publicChart{
	{
		name: "node-exporter", source: source{prometheusCharts, "charts/prometheus-node-exporter", "e0ce2e473", "8b8e639ca"},
	},
	{
		name: "kube-state-metrics", source: source{prometheusCharts, "charts/kube-state-metrics", "b26dff5c5", "1982f1c58"},
		vdu: "kube-state-metrics",
	},
	{
		name: "alertmanager", source: source{prometheusCharts, "charts/alertmanager", "a779c6468", "7912a2df1"},
		vdu: "alertmanager",
	},
	{
		name: "blackbox-exporter", source: source{prometheusCharts, "charts/prometheus-blackbox-exporter", "77b8b377f", "a66a3d5b3"},
		vdu: "prometheus-blackbox-exporter",
	},
	{
		name: "ingress-nginx", source: source{"kubernetes/ingress-nginx", "charts/ingress-nginx", "e3b7b0ec0", "dbb11b92d"},
		vdu: "ingress-nginx-controller",
	},
	{
		name: "argo-rollouts", source: source{argoCharts, "charts/argo-rollouts", "cd9afb26", "8796aeaa"},
		vdu: "argo-rollouts=2",
	},
	{
		name: "argo-cd", source: source{argoCharts, "charts/argo-cd", "a1c90384", "af0a9310"},
		needs: []source{{"DandyDeveloper/charts", "charts/redis-ha", "2e2539a", "2e2539a"}}, vdu: "argocd-server",
	},
	{
		name: "nginx", source: source{bitnamiCharts, "bitnami/nginx", "e044aecf0b", "d65039a51e"}, needs: []source{bitnamiCommon("e044aecf0b", "d65039a51e")},
		vdu: "nginx",
	},
	{
		name: "postgresql", source: source{bitnamiCharts, "bitnami/postgresql", "b631836396", "7c1e07157f"}, needs: []source{bitnamiCommon("b631836396", "7c1e07157f")},
		vdu: "postgresql",
	},
	{
		name: "redis", source: source{bitnamiCharts, "bitnami/redis", "38684e07d2", "e3296a8314"}, needs: []source{bitnamiCommon("38684e07d2", "e3296a8314")},
		vdu: "redis-replicas=3",
	},
	{
		name: "open5gs-amf", source: source{gradiantCharts, "charts/open5gs-amf", "06a324c", "6511828"}, needs: []source{bitnamiCommon("e044aecf0b", "d65039a51e")},
	},
	{
		name: "metrics-server", source: source{"kubernetes-sigs/metrics-server", "charts/metrics-server", "2e12eeb3", "842dcc8c"},
		vdu: "metrics-server",
	},
	{
		name: "rabbitmq", source: source{bitnamiCharts, "bitnami/rabbitmq", "2abc0f9d7e", "301592c464"},
		needs: []source{bitnamiCommon("2abc0f9d7e", "301592c464")}, vdu: "rabbitmq",
	},
	{
		name: "mariadb", source: source{bitnamiCharts, "bitnami/mariadb", "2abc0f9d7e", "c414d93501"},
		needs:  []source{bitnamiCommon("2abc0f9d7e", "c414d93501")},
		values: "auth: {rootPassword: a-password}", // which it demands of an upgrade
	},
	{
		name: "mongodb", source: source{bitnamiCharts, "bitnami/mongodb", "18881c18ac", "8ca5ad2894"},
		needs: []source{bitnamiCommon("18881c18ac", "8ca5ad2894")}, vdu: "mongodb",
	},
	{
		name: "kafka", source: source{bitnamiCharts, "bitnami/kafka", "f73fdee132", "2abc0f9d7e"},
		needs: []source{bitnamiCommon("f73fdee132", "2abc0f9d7e")}, vdu: "kafka-controller=3",
	},
	{
		name: "etcd", source: source{bitnamiCharts, "bitnami/etcd", "4bbd8895fd", "2abc0f9d7e"},
		needs: []source{bitnamiCommon("4bbd8895fd", "2abc0f9d7e")}, vdu: "etcd",
	},
	{
		name: "memcached", source: source{bitnamiCharts, "bitnami/memcached", "94b3f67919", "2abc0f9d7e"},
		needs: []source{bitnamiCommon("94b3f67919", "2abc0f9d7e")}, vdu: "memcached",
	},
	{
		name: "minio", source: source{bitnamiCharts, "bitnami/minio", "2abc0f9d7e", "c06b3224b5"},
		needs: []source{bitnamiCommon("2abc0f9d7e", "c06b3224b5")},
	},
	{
		name: "keycloak", source: source{bitnamiCharts, "bitnami/keycloak", "21693ad18f", "661b6e6c72"},
		needs: []source{bitnamiCommon("21693ad18f", "661b6e6c72"), {bitnamiCharts, "bitnami/postgresql", "36f859828f", "36f859828f"}}, vdu: "keycloak",
	},
	{
		name: "wordpress", source: source{bitnamiCharts, "bitnami/wordpress", "3d9e80c913", "2abc0f9d7e"},
		needs: []source{bitnamiCommon("3d9e80c913", "2abc0f9d7e"), {bitnamiCharts, "bitnami/memcached", "94b3f67919", "94b3f67919"}, {bitnamiCharts, "bitnami/mariadb", "e429923d43", "e429923d43"}}, vdu: "wordpress",
	},
	{
		name: "prometheus", source: source{prometheusCharts, "charts/prometheus", "d9580e0e9", "ca06aaef8"},
		needs: []source{{prometheusCharts, "charts/alertmanager", "d9580e0e9", "ca06aaef8"}, {prometheusCharts, "charts/kube-state-metrics", "d9580e0e9", "ca06aaef8"}, {prometheusCharts, "charts/prometheus-node-exporter", "d9580e0e9", "ca06aaef8"}, {prometheusCharts, "charts/prometheus-pushgateway", "d9580e0e9", "ca06aaef8"}},
		vdu:   "prometheus-server",
	},
	{
		name: "prometheus-adapter", source: source{prometheusCharts, "charts/prometheus-adapter", "a9ab20a9b", "e6e041b67"},
		vdu: "prometheus-adapter",
	},
	{
		name: "pushgateway", source: source{prometheusCharts, "charts/prometheus-pushgateway", "8df89a564", "4fa56e1c2"},
		vdu: "prometheus-pushgateway",
	},
	{
		name: "argo-workflows", source: source{argoCharts, "charts/argo-workflows", "c7014ee2", "4f4cc4f9"},
		vdu: "argo-workflows-server",
	},
	{
		name: "traefik", source: source{"traefik/traefik-helm-chart", "traefik", "c33cc2a1", "a8a66d00"},
		vdu: "traefik",
	},
	{
		name: "cert-manager", source: source{"cert-manager/cert-manager", "deploy/charts/cert-manager", "7cc24134e", "2d0d7f7f7"},
		vdu:    "cert-manager",
		values: "crds: {enabled: true}",
	},
	{
		name: "keda", source: source{"kedacore/charts", "keda", "355e50d", "cbb9bb8"},
		vdu: "keda-operator",
	},
	{
		name: "otel-collector", source: source{"open-telemetry/opentelemetry-helm-charts", "charts/opentelemetry-collector", "26b83ac81", "f5178cb97"},
		vdu:    "opentelemetry-collector",
		values: "{mode: deployment, image: {repository: otel/opentelemetry-collector-k8s}}",
	},
	{
		name: "fluent-bit", source: source{"fluent/helm-charts", "charts/fluent-bit", "f108097", "22a564d"},
	},
	{
		name: "fluentd", source: source{"fluent/helm-charts", "charts/fluentd", "5926203", "f9187e5"},
	},
	{
		name: "promtail", source: source{"grafana/helm-charts", "charts/promtail", "72a7caf12", "b68e01680"},
	},
	{
		name: "open5gs-nrf", source: source{gradiantCharts, "charts/open5gs-nrf", "06a324c", "6511828"},
		needs: []source{bitnamiCommon("e044aecf0b", "d65039a51e")},
	},
	{
		name: "ueransim-gnb", source: source{gradiantCharts, "charts/ueransim-gnb", "a4a74be", "b3548c1"},
		needs: []source{bitnamiCommon("22bb033224", "22bb033224")},
	},
	{
		name: "free5gc-amf", source: source{gradiantCharts, "charts/free5gc-amf", "1a2f068", "6511828"},
		needs: []source{bitnamiCommon("e044aecf0b", "d65039a51e")},
	},
}
