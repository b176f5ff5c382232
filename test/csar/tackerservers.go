package csar

// TackerServersVNFD is the id of the descriptor of [TackerServers].
const TackerServersVNFD = "5f4a2c1e-93c5-4d0e-8d0f-7a35f1a40004"

// TackerServers is [TackerHeat] as it is on a cloud with servers: VDU1 is a group of servers, each with a port in the
// request's network of VDU1_CP1 and one in an internal network, which the stack makes. With it come what users of Tacker
// have beside: policies that scale the group, and a security group.
func TackerServers() Files {
	all := TackerHeatAs(TackerServersVNFD, "      flavour_id: simple\n",
		"      flavour_id: simple\n    requirements:\n    - virtual_link_external: [ VDU1_CP1, virtual_link ]\n")
	all["BaseHOT/simple/sample.yaml"] = tackerServersTemplate
	all["BaseHOT/simple/nested/VDU1.yaml"] = tackerServersNested
	return all
}

const tackerServersTemplate = `heat_template_version: 2013-05-23
description: 'Base HOT of a VNF of servers'

parameters:
  nfv:
    type: json

resources:
  VDU1_scale_group:
    type: OS::Heat::AutoScalingGroup
    depends_on: internalVL1_subnet
    properties:
      min_size: 1
      max_size: 3
      desired_capacity: { get_param: [ nfv, VDU, VDU1, desired_capacity ] }
      resource:
        type: VDU1.yaml
        properties:
          flavor: { get_param: [ nfv, VDU, VDU1, computeFlavourId ] }
          image: { get_param: [ nfv, VDU, VDU1-VirtualStorage, vcImageId ] }
          net1: { get_param: [ nfv, CP, VDU1_CP1, network ] }
          net2: { get_resource: internalVL1 }
          group: { get_resource: management }

  VDU1_scale_scale_out:
    type: OS::Heat::ScalingPolicy
    properties:
      scaling_adjustment: 1
      auto_scaling_group_id: { get_resource: VDU1_scale_group }
      adjustment_type: change_in_capacity

  management:
    type: OS::Neutron::SecurityGroup
    properties:
      rules: [ { protocol: tcp, port_range_min: 22, port_range_max: 22 } ]

  internalVL1:
    type: OS::Neutron::Net

  internalVL1_subnet:
    type: OS::Neutron::Subnet
    properties:
      ip_version: 4
      network: { get_resource: internalVL1 }
      cidr: 192.168.0.0/24

outputs: {}
`

const tackerServersNested = `heat_template_version: 2013-05-23
description: 'A server of VDU1'

parameters:
  flavor: {type: string}
  image: {type: string}
  net1: {type: string}
  net2: {type: string}
  group: {type: string}

resources:
  VDU1:
    type: OS::Nova::Server
    properties:
      flavor: { get_param: flavor }
      image: { get_param: image }
      networks:
      - port: { get_resource: VDU1_CP1 }
      - port: { get_resource: VDU1_CP2 }

  VDU1_CP1:
    type: OS::Neutron::Port
    properties:
      network: { get_param: net1 }
      security_groups: [ { get_param: group } ]

  VDU1_CP2:
    type: OS::Neutron::Port
    properties:
      network: { get_param: net2 }
`
