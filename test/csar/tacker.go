package csar

// TackerVNFD is the id of the descriptor of [Tacker].
const TackerVNFD = "5f4a2c1e-93c5-4d0e-8d0f-7a35f1a40001"

// Tacker is a package as users of OpenStack Tacker write them for CNFs: a descriptor over
// several files, with the types of SOL001 beside it, two flavours (simple and complex)
// with scaling aspects and instantiation levels, and manifests of which a request names
// those that it wants. Manifests say namespace default, whatever the request says.
//
// In flavour simple the Deployment edge-web runs VDU1 (1 to 3 instances; level_2 has 3)
// and the Pod edge-probe VDU2. Flavour complex has VDU1 alone, in steps of two.
func Tacker() Files {
	return Files{
		"Definitions/etsi_nfv_sol001_common_types.yaml": tackerHead + "data_types:\n  tosca.datatypes.nfv.L2AddressData:\n    derived_from: tosca.datatypes.Root\n",
		"Definitions/etsi_nfv_sol001_vnfd_types.yaml":   tackerHead + tackerETSI,
		"Definitions/edge_types.yaml":                   tackerHead + tackerTypes,
		"Definitions/edge_top.vnfd.yaml":                tackerHead + tackerTop,
		"Definitions/edge_df_simple.yaml":               tackerHead + tackerSimple,
		"Definitions/edge_df_complex.yaml":              tackerHead + tackerComplex,
		"Files/kubernetes/config.yaml":                  tackerConfig,
		"Files/kubernetes/deployment.yaml":              tackerDeployment,
		"Files/kubernetes/pod.yaml":                     tackerPod,
		"Files/kubernetes/service_secret.yaml":          tackerService,
		"Files/kubernetes/token-review.yaml":            tackerReview,
	}
}

const tackerHead = "tosca_definitions_version: tosca_simple_yaml_1_2\n\n"

const tackerETSI = `
imports:
  - etsi_nfv_sol001_common_types.yaml
node_types:
  tosca.nodes.nfv.VNF:
    derived_from: tosca.nodes.Root
    properties:
      descriptor_id: {type: string, required: true}
      vnfm_info: {type: list, required: true, entry_schema: {type: string}}
  tosca.nodes.nfv.Vdu.Compute:
    derived_from: tosca.nodes.Root
    properties:
      name: {type: string, required: true}
`

const tackerTypes = `
imports:
  - etsi_nfv_sol001_common_types.yaml
  - etsi_nfv_sol001_vnfd_types.yaml
node_types:
  operator.edge.VNF:
    derived_from: tosca.nodes.nfv.VNF
    properties:
      descriptor_id:
        type: string
        constraints: [ valid_values: [ ` + TackerVNFD + ` ] ]
        default: ` + TackerVNFD + `
      descriptor_version: {type: string, default: '1.0'}
      provider: {type: string, default: 'Operator'}
      product_name: {type: string, default: 'Edge web'}
      software_version: {type: string, default: '2.1'}
      vnfm_info:
        type: list
        entry_schema: {type: string}
        default: [ Tacker ]
      flavour_id:
        type: string
        constraints: [ valid_values: [ simple, complex ] ]
        default: simple
      flavour_description: {type: string, default: ""}
    interfaces:
      Vnflcm:
        type: tosca.interfaces.nfv.Vnflcm
`

const tackerTop = `
imports:
  - etsi_nfv_sol001_common_types.yaml
  - etsi_nfv_sol001_vnfd_types.yaml
  - edge_types.yaml
  - edge_df_simple.yaml
  - edge_df_complex.yaml
topology_template:
  inputs:
    selected_flavour:
      type: string
      description: the flavour that the request names
  node_templates:
    VNF:
      type: operator.edge.VNF
      properties:
        flavour_id: { get_input: selected_flavour }
        descriptor_id: ` + TackerVNFD + `
        provider: Operator
        product_name: Edge web
        software_version: '2.1'
        descriptor_version: '1.0'
        vnfm_info:
          - Tacker
      requirements:
`

const tackerSimple = `
imports:
  - etsi_nfv_sol001_common_types.yaml
  - etsi_nfv_sol001_vnfd_types.yaml
  - edge_types.yaml
topology_template:
  inputs:
    descriptor_id: {type: string}
    flavour_id: {type: string}
  substitution_mappings:
    node_type: operator.edge.VNF
    properties:
      flavour_id: simple
    requirements:
      virtual_link_external: []
  node_templates:
    VNF:
      type: operator.edge.VNF
      properties:
        flavour_description: One web server and a probe
      interfaces:
        Vnflcm:
          instantiate: []
          instantiate_start: noop
          terminate_end: {implementation: noop}
    VDU1:
      type: tosca.nodes.nfv.Vdu.Compute
      properties:
        name: edge-web
        description: the web server
        vdu_profile:
          min_number_of_instances: 1
          max_number_of_instances: 3
    VDU2:
      type: tosca.nodes.nfv.Vdu.Compute
      properties:
        name: edge-probe
        description: looks at the web server
        vdu_profile:
          min_number_of_instances: 1
          max_number_of_instances: 1
  policies:
    - scaling_aspects:
        type: tosca.policies.nfv.ScalingAspects
        properties:
          aspects:
            web_aspect:
              name: web_aspect
              description: the number of web servers
              max_scale_level: 2
              step_deltas:
                - delta_1
    - VDU1_initial_delta:
        type: tosca.policies.nfv.VduInitialDelta
        properties:
          initial_delta:
            number_of_instances: 1
        targets: [ VDU1 ]
    - VDU1_scaling_aspect_deltas:
        type: tosca.policies.nfv.VduScalingAspectDeltas
        properties:
          aspect: web_aspect
          deltas:
            delta_1:
              number_of_instances: 1
        targets: [ VDU1 ]
    - instantiation_levels:
        type: tosca.policies.nfv.InstantiationLevels
        properties:
          levels:
            level_1:
              description: Smallest size
              scale_info:
                web_aspect:
                  scale_level: 0
            level_2:
              description: Largest size
              scale_info:
                web_aspect:
                  scale_level: 2
          default_level: level_1
    - VDU1_instantiation_levels:
        type: tosca.policies.nfv.VduInstantiationLevels
        properties:
          levels:
            level_1:
              number_of_instances: 1
            level_2:
              number_of_instances: 3
        targets: [ VDU1 ]
    - VDU2_instantiation_levels:
        type: tosca.policies.nfv.VduInstantiationLevels
        properties:
          levels:
            level_1:
              number_of_instances: 1
            level_2:
              number_of_instances: 1
        targets: [ VDU2 ]
`

const tackerComplex = `
imports:
  - etsi_nfv_sol001_common_types.yaml
  - etsi_nfv_sol001_vnfd_types.yaml
  - edge_types.yaml
topology_template:
  substitution_mappings:
    node_type: operator.edge.VNF
    properties:
      flavour_id: complex
  node_templates:
    VNF:
      type: operator.edge.VNF
      properties:
        flavour_description: Web servers in steps of two
    VDU1:
      type: tosca.nodes.nfv.Vdu.Compute
      properties:
        name: edge-web
        vdu_profile:
          min_number_of_instances: 1
          max_number_of_instances: 5
  policies:
    - scaling_aspects:
        type: tosca.policies.nfv.ScalingAspects
        properties:
          aspects:
            web_aspect:
              name: web_aspect
              description: the number of web servers
              max_scale_level: 2
              step_deltas: [ delta_1 ]
    - VDU1_initial_delta:
        type: tosca.policies.nfv.VduInitialDelta
        properties: {initial_delta: {number_of_instances: 1}}
        targets: [ VDU1 ]
    - VDU1_scaling_aspect_deltas:
        type: tosca.policies.nfv.VduScalingAspectDeltas
        properties: {aspect: web_aspect, deltas: {delta_1: {number_of_instances: 2}}}
        targets: [ VDU1 ]
`

const tackerConfig = `apiVersion: v1
data:
  page: hello
kind: ConfigMap
metadata:
  name: edge-pages
  namespace: default
`

const tackerDeployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: edge-web
  namespace: default
spec:
  replicas: 2
  selector:
    matchLabels:
      app: edge-web
  template:
    metadata:
      labels:
        app: edge-web
    spec:
      containers:
      - name: web
        image: registry.k8s.io/e2e-test-images/agnhost:2.53
        imagePullPolicy: IfNotPresent
        ports:
        - containerPort: 80
          protocol: TCP
  strategy:
    type: RollingUpdate`

const tackerPod = `apiVersion: v1
kind: Pod
metadata:
  namespace: default
  name: edge-probe
  creationTimestamp: null
spec:
  containers:
  - image: registry.k8s.io/e2e-test-images/agnhost:2.53
    imagePullPolicy: IfNotPresent
    name: probe
status: {}
`

const tackerService = `---
apiVersion: v1
kind: Service
metadata:
  labels:
    app: edge-web
  name: edge-web
  namespace: default
spec:
  ports:
  - name: "80"
    port: 80
    targetPort: 8080
  selector:
    app: edge-web
---
apiVersion: v1
data:
  password: Y2FuYXJ5LTNjOWI=
kind: Secret
metadata:
  name: edge-login
  namespace: default
`

const tackerReview = `apiVersion: authentication.k8s.io/v1
kind: TokenReview
metadata:
  name: edge-review
spec:
  token: "<token>"
`
