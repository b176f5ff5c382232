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
		lacks: "service/RELEASE-prometheus-node-exporter",
	},
	{
		name: "kube-state-metrics", source: source{prometheusCharts, "charts/kube-state-metrics", "b26dff5c5", "1982f1c58"},
		vdu: "kube-state-metrics", lacks: "deployment/RELEASE-kube-state-metrics",
	},
	{
		name: "alertmanager", source: source{prometheusCharts, "charts/alertmanager", "a779c6468", "7912a2df1"},
		vdu: "alertmanager", lacks: "configmap/RELEASE-alertmanager",
	},
	{
		name: "blackbox-exporter", source: source{prometheusCharts, "charts/prometheus-blackbox-exporter", "77b8b377f", "a66a3d5b3"},
		vdu: "prometheus-blackbox-exporter", lacks: "deployment/RELEASE-prometheus-blackbox-exporter",
	},
	{
		name: "ingress-nginx", source: source{"kubernetes/ingress-nginx", "charts/ingress-nginx", "e3b7b0ec0", "dbb11b92d"},
		vdu: "ingress-nginx-controller", lacks: "deployment/RELEASE-ingress-nginx-controller",
	},
	{
		name: "argo-rollouts", source: source{argoCharts, "charts/argo-rollouts", "cd9afb26", "8796aeaa"},
		vdu: "argo-rollouts=2", lacks: "deployment/RELEASE-argo-rollouts",
	},
	{
		name: "argo-cd", source: source{argoCharts, "charts/argo-cd", "a1c90384", "af0a9310"},
		needs: []source{{"DandyDeveloper/charts", "charts/redis-ha", "2e2539a", "2e2539a"}}, vdu: "argocd-server", lacks: "deployment/RELEASE-argocd-server",
	},
	{
		name: "nginx", source: source{bitnamiCharts, "bitnami/nginx", "e044aecf0b", "d65039a51e"}, needs: []source{bitnamiCommon("e044aecf0b", "d65039a51e")},
		vdu: "nginx", lacks: "deployment/RELEASE-nginx",
	},
	{
		name: "postgresql", source: source{bitnamiCharts, "bitnami/postgresql", "b631836396", "7c1e07157f"}, needs: []source{bitnamiCommon("b631836396", "7c1e07157f")},
		vdu: "postgresql", lacks: "service/RELEASE-postgresql",
	},
	{
		name: "redis", source: source{bitnamiCharts, "bitnami/redis", "38684e07d2", "e3296a8314"}, needs: []source{bitnamiCommon("38684e07d2", "e3296a8314")},
		vdu: "redis-replicas=3", lacks: "service/RELEASE-redis-master",
	},
	{
		name: "open5gs-amf", source: source{gradiantCharts, "charts/open5gs-amf", "06a324c", "6511828"}, needs: []source{bitnamiCommon("e044aecf0b", "d65039a51e")},
		vdu: "open5gs-amf", lacks: "deployment/RELEASE-open5gs-amf",
	},
	{
		name: "metrics-server", source: source{"kubernetes-sigs/metrics-server", "charts/metrics-server", "2e12eeb3", "842dcc8c"},
		vdu: "metrics-server", lacks: "deployment/RELEASE-metrics-server",
	},
}
