package sol003

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// Version is the version of the interface that is served.
const Version = "2.0.0"

// Prefix is the path below which it is served.
const Prefix = "/vnflcm/v2"

// MergePatch is the media type of modifications (RFC 7396).
const MergePatch = "application/merge-patch+json"

// Link leads to a resource.
type Link struct {
	Href string `json:"href"`
}

// Links are those that are legal now, by their names.
type Links map[string]Link

// VNFInstance is VnfInstance.
type VNFInstance struct {
	ID              string                       `json:"id"`
	Name            string                       `json:"vnfInstanceName,omitempty"`
	Description     string                       `json:"vnfInstanceDescription,omitempty"`
	VNFDID          string                       `json:"vnfdId"`
	Provider        string                       `json:"vnfProvider"`
	ProductName     string                       `json:"vnfProductName"`
	SoftwareVersion string                       `json:"vnfSoftwareVersion"`
	VNFDVersion     string                       `json:"vnfdVersion"`
	Configurable    jsontext.Value               `json:"vnfConfigurableProperties,omitzero"`
	VIMs            map[string]VIMConnectionInfo `json:"vimConnectionInfo,omitempty"`
	State           string                       `json:"instantiationState"`
	Instantiated    *InstantiatedVNFInfo         `json:"instantiatedVnfInfo,omitempty"`
	Metadata        jsontext.Value               `json:"metadata,omitzero"`
	Extensions      jsontext.Value               `json:"extensions,omitzero"`
	Own             *InstanceDetail              `json:"vimbroker,omitempty"`
	Links           Links                        `json:"_links"`
}

// InstanceDetail holds the values that the standard has no place for.
type InstanceDetail struct {
	Project   string     `json:"project"`
	CreatedBy string     `json:"createdBy"`
	CreatedAt time.Time  `json:"createdAt"`
	Namespace string     `json:"namespace,omitempty"`
	VIMName   string     `json:"vimName,omitempty"`
	Resources []Resource `json:"resources,omitempty"`
	Drift     *Drift     `json:"drift,omitempty"`
	// NotDone says what the descriptor and the requests ask for of networks that is not done.
	NotDone []string `json:"notDone,omitempty"`
}

// Drift is which resources of an instance are missing or were changed, as they were looked at last.
type Drift struct {
	// SeenAt is when that was; it is missing where it was not since the last operation.
	SeenAt *time.Time `json:"seenAt,omitempty"`
	// Count is how many there are; Resources may be fewer.
	Count     int        `json:"count"`
	Resources []Resource `json:"resources,omitempty"`
	// Unseen is why the VIM could not be asked at TriedAt, the last time.
	Unseen  string     `json:"unseen,omitempty"`
	TriedAt *time.Time `json:"triedAt,omitempty"`
}

// Resource is one object on a VIM.
type Resource struct {
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	Namespace  string   `json:"namespace,omitempty"`
	Name       string   `json:"name"`
	VDU        string   `json:"vdu,omitempty"`
	Outlives   bool     `json:"outlives,omitzero"`
	Standing   *bool    `json:"standing,omitempty"`
	Ready      *bool    `json:"ready,omitempty"`
	Message    string   `json:"message,omitempty"`
	ChangedBy  []string `json:"changedBy,omitempty"`
	// VIMConnectionID is given of an instance that is on several VIMs.
	VIMConnectionID string `json:"vimConnectionId,omitempty"`
}

// VIMConnectionInfo names a VIM that the server knows, or brings one.
type VIMConnectionInfo struct {
	VIMID   string `json:"vimId,omitempty"`
	VIMType string `json:"vimType"`
	// InterfaceInfo and AccessInfo are in requests only: no answer has them.
	InterfaceInfo *InterfaceInfo `json:"interfaceInfo,omitempty"`
	AccessInfo    *AccessInfo    `json:"accessInfo,omitempty"`
}

// Brings reports whether it says more than the name of a VIM. Empty objects say nothing.
func (v VIMConnectionInfo) Brings() bool {
	return v.InterfaceInfo != nil && !reflect.ValueOf(*v.InterfaceInfo).IsZero() ||
		v.AccessInfo != nil && !reflect.ValueOf(*v.AccessInfo).IsZero()
}

// InterfaceInfo is where a VIM is, in the words of ETSI's registry for both types of VIM.
type InterfaceInfo struct {
	Endpoint string `json:"endpoint,omitempty"`
	// CACert is a PEM bundle, of Kubernetes; Trusted are certificates in PEM, of Keystone.
	CACert  string   `json:"ssl_ca_cert,omitempty"`
	Trusted []string `json:"trustedCertificates,omitempty"`
	// SkipVerification and SkipHostname turn checks of the server's certificate off.
	SkipVerification bool `json:"skipCertificateVerification,omitzero"`
	SkipHostname     bool `json:"skipCertificateHostnameCheck,omitzero"`
}

// AccessInfo is a credential: of Kubernetes a token, or a user name with a password; of Keystone a user with a
// password, or an application credential as clouds.yaml names it.
type AccessInfo struct {
	BearerToken                 secret.Text `json:"bearer_token,omitzero"`
	Username                    string      `json:"username,omitempty"`
	Password                    secret.Text `json:"password,omitzero"`
	Region                      string      `json:"region,omitempty"`
	Project                     string      `json:"project,omitempty"`
	ProjectDomain               string      `json:"projectDomain,omitempty"`
	UserDomain                  string      `json:"userDomain,omitempty"`
	ApplicationCredentialID     string      `json:"application_credential_id,omitempty"`
	ApplicationCredentialSecret secret.Text `json:"application_credential_secret,omitzero"`
	// OIDCTokenURL asks the server to log in somewhere else first, which it does not do.
	OIDCTokenURL string `json:"oidc_token_url,omitempty"`
}

// InstantiatedVNFInfo holds the values that an instance has while it is instantiated.
type InstantiatedVNFInfo struct {
	FlavourID   string             `json:"flavourId"`
	State       string             `json:"vnfState"`
	ScaleStatus []ScaleInfo        `json:"scaleStatus,omitempty"`
	MaxLevels   []ScaleInfo        `json:"maxScaleLevels,omitempty"`
	Resources   []VNFCResourceInfo `json:"vnfcResourceInfo,omitempty"`
	VNFCs       []VNFCInfo         `json:"vnfcInfo,omitempty"`
	ExtCPs      []ExtCPInfo        `json:"extCpInfo,omitempty"`
	Storages    []StorageInfo      `json:"virtualStorageResourceInfo,omitempty"`
	ExtLinks    []ExtLinkInfo      `json:"extVirtualLinkInfo,omitempty"`
	Managed     []LinkInfo         `json:"extManagedVirtualLinkInfo,omitempty"`
	Links       []LinkInfo         `json:"vnfVirtualLinkResourceInfo,omitempty"`
}

// ExtCPInfo is VnfExtCpInfo: a connection point of a VNFC that the VNF shows outside.
type ExtCPInfo struct {
	ID       string       `json:"id"`
	CPDID    string       `json:"cpdId"`
	ConfigID string       `json:"cpConfigId"`
	Protocol []CPProtocol `json:"cpProtocolInfo"`
	VNFCCPID string       `json:"associatedVnfcCpId,omitempty"`
}

// StorageInfo is VirtualStorageResourceInfo.
type StorageInfo struct {
	ID      string            `json:"id"`
	DescID  string            `json:"virtualStorageDescId"`
	Storage ResourceHandle    `json:"storageResource"`
	Note    map[string]string `json:"metadata,omitempty"`
}

// AffectedStorage is AffectedVirtualStorage.
type AffectedStorage struct {
	StorageInfo
	ChangeType string `json:"changeType"`
}

// ScaleInfo is the scale level of an aspect.
type ScaleInfo struct {
	AspectID string `json:"aspectId"`
	Level    int    `json:"scaleLevel"`
}

// VNFCResourceInfo is a VNFC with the object that it is.
type VNFCResourceInfo struct {
	ID       string            `json:"id"`
	VDUID    string            `json:"vduId"`
	Compute  ResourceHandle    `json:"computeResource"`
	CPs      []VNFCCPInfo      `json:"vnfcCpInfo,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// VNFCCPInfo is a connection point of a VNFC.
type VNFCCPInfo struct {
	ID       string       `json:"id"`
	CPDID    string       `json:"cpdId"`
	Protocol []CPProtocol `json:"cpProtocolInfo,omitempty"`
}

// CPProtocol are the addresses of a connection point, or those that it asks for; its layer is IP_OVER_ETHERNET.
type CPProtocol struct {
	Layer   string         `json:"layerProtocol"`
	Address IPOverEthernet `json:"ipOverEthernet,omitzero"`
}

// IPOverEthernet are the addresses of a connection point.
type IPOverEthernet struct {
	MAC string        `json:"macAddress,omitempty"`
	IPs []IPAddresses `json:"ipAddresses,omitempty"`
}

// IPAddresses are those of one subnet and one version: IPV4 or IPV6. Fixed and Dynamic are asked for.
type IPAddresses struct {
	Type      string   `json:"type,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
	Fixed     []string `json:"fixedAddresses,omitempty"`
	Dynamic   int      `json:"numDynamicAddresses,omitempty"`
	SubnetID  string   `json:"subnetId,omitempty"`
}

// ResourceHandle names an object on a VIM.
type ResourceHandle struct {
	VIMConnectionID string `json:"vimConnectionId,omitempty"`
	ResourceID      string `json:"resourceId"`
	Type            string `json:"vimLevelResourceType,omitempty"`
}

// VNFCInfo is a VNFC.
type VNFCInfo struct {
	ID             string `json:"id"`
	VDUID          string `json:"vduId"`
	ResourceInfoID string `json:"vnfcResourceInfoId,omitempty"`
	State          string `json:"vnfcState"`
}

// OpOcc is VnfLcmOpOcc.
type OpOcc struct {
	ID             string         `json:"id"`
	State          string         `json:"operationState"`
	StateEnteredAt time.Time      `json:"stateEnteredTime"`
	StartedAt      time.Time      `json:"startTime"`
	InstanceID     string         `json:"vnfInstanceId"`
	Operation      string         `json:"operation"`
	Automatic      bool           `json:"isAutomaticInvocation"`
	Params         jsontext.Value `json:"operationParams,omitzero"`
	CancelPending  bool           `json:"isCancelPending"`
	CancelMode     string         `json:"cancelMode,omitempty"`
	Error          *Problem       `json:"error,omitempty"`
	// Changed are the changes of MODIFY_INFO, Triggered those of a change of the package.
	Changed   *ModifyRequest   `json:"changedInfo,omitempty"`
	Triggered *PackageModified `json:"modificationsTriggeredByVnfPkgChange,omitempty"`
	Resources *ResourceChanges `json:"resourceChanges,omitempty"`
	Connected []ExtLinkInfo    `json:"changedExtConnectivity,omitempty"`
	Own       *OperationDetail `json:"vimbroker,omitempty"`
	Links     Links            `json:"_links"`
}

// PackageModified is ModificationsTriggeredByVnfPkgChange.
type PackageModified struct {
	VNFDID          string `json:"vnfdId"`
	Provider        string `json:"vnfProvider,omitempty"`
	ProductName     string `json:"vnfProductName,omitempty"`
	SoftwareVersion string `json:"vnfSoftwareVersion,omitempty"`
	VNFDVersion     string `json:"vnfdVersion,omitempty"`
}

// ResourceChanges are those of an operation.
type ResourceChanges struct {
	VNFCs    []AffectedVNFC    `json:"affectedVnfcs,omitempty"`
	Storages []AffectedStorage `json:"affectedVirtualStorages,omitempty"`
	Links    []LinkInfo        `json:"affectedVirtualLinks,omitempty"`
}

// AffectedVNFC is a VNFC that an operation has made, removed, or replaced under the same name.
type AffectedVNFC struct {
	ID         string            `json:"id"`
	VDUID      string            `json:"vduId"`
	ChangeType string            `json:"changeType"`
	Compute    ResourceHandle    `json:"computeResource"`
	Metadata   map[string]string `json:"metadata,omitempty"`
}

// OperationDetail holds the values that the standard has no place for.
type OperationDetail struct {
	Project  string     `json:"project"`
	AskedBy  string     `json:"askedBy"`
	Warrant  string     `json:"warrant,omitempty"`
	Deadline *time.Time `json:"deadline,omitempty"`
	Waiting  *Waiting   `json:"waiting,omitempty"`
	Stage    int        `json:"stage"`
	Steps    []Resource `json:"steps,omitempty"`
	NotDone  []string   `json:"notDone,omitempty"`
}

// Waiting is how an operation stands that waits for its turn.
type Waiting struct {
	Since time.Time `json:"since"`
	// Position counts those that wait in its project: 1 is the next.
	Position int    `json:"position"`
	Reason   string `json:"reason"`
}

// Problem is ProblemDetails.
type Problem struct {
	Title  string `json:"title,omitempty"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// CreateVNFRequest is CreateVnfRequest.
type CreateVNFRequest struct {
	VNFDID      string         `json:"vnfdId"`
	Name        string         `json:"vnfInstanceName,omitempty"`
	Description string         `json:"vnfInstanceDescription,omitempty"`
	Metadata    jsontext.Value `json:"metadata,omitzero"`
}

// AdditionalParams are those of Tacker's that are known.
type AdditionalParams struct {
	Files     []string          `json:"lcm-kubernetes-def-files,omitempty"`
	Namespace string            `json:"namespace,omitempty"`
	Variables map[string]string `json:"variables,omitempty"`
	// Order puts objects of the manifests into waves.
	Order []WaveRule `json:"order,omitempty"`
	// Volumes are ids or names of volumes, by the names of the claims in whose place they are mounted.
	Volumes map[string]string `json:"volumes,omitempty"`
	// NFV is merged into the parameter nfv of a base HOT.
	NFV jsontext.Value `json:"nfv,omitzero"`
	// Chart is the path of a Helm chart in the package: a packed one, or its folder. ChartValues are laid over the
	// chart's values, ChartSets are single ones by Helm's notation of --set, and ChartNames name the values that are
	// the numbers of VDUs' instances: {VDU: {"replica": NAME}}.
	Chart       string         `json:"helm_chart_path,omitempty"`
	ChartValues jsontext.Value `json:"helm_values,omitzero"`
	ChartSets   jsontext.Value `json:"helm_parameters,omitzero"`
	ChartNames  jsontext.Value `json:"helm_value_names,omitzero"`
	// Release is a name for the release; empty leaves it to the server.
	Release string `json:"helm_release_name,omitempty"`
	// NewSecrets: Secrets that the chart makes up at each rendering may be replaced.
	NewSecrets bool `json:"helm_new_secrets,omitempty"`
	// Others are those that are ignored, or refused: [AdditionalParams.NeedsCode] and [AdditionalParams.Unknown] tell them apart.
	Others map[string]jsontext.Value `json:",embed"`
}

// WaveRule puts objects into a wave that have this kind, name and labels, as far as they are given.
type WaveRule struct {
	Wave   int               `json:"wave"`
	Kind   string            `json:"kind,omitempty"`
	Name   string            `json:"name,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	// Others are refused.
	Others map[string]jsontext.Value `json:",embed" yaml:"-"`
}

// ignored are the parameters of Tacker that change nothing here: they are taken and shown.
var ignored = []string{"upgrade_type", "vdu_params"}

// Valued reports whether it gives values of a chart.
func (p AdditionalParams) Valued() bool {
	return len(p.ChartValues)+len(p.ChartSets)+len(p.ChartNames) > 0 || p.NewSecrets
}

// Unknown are those of Others that are not Tacker's, sorted: a VNFD has to declare them.
func (p AdditionalParams) Unknown() (names []string) {
	for name := range p.Others {
		if !slices.Contains(ignored, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ParamNames are the parameters that are read here.
func ParamNames() (names []string) {
	of := reflect.TypeFor[AdditionalParams]()
	for i := range of.NumField() {
		if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return append(names, ignored...)
}

// code are the parameters by which requests of Tacker have code of a package, Terraform, or Helm on another machine do the
// work.
var code = []string{
	"use_helm", "using_helm_install_param",
	"lcm-operation-user-data", "lcm-operation-user-data-class",
	"lcm-operation-coordinate-new-vnf", "lcm-operation-coordinate-old-vnf",
	"tf_dir_path", "tf_var_path",
}

// NeedsCode is the first of those parameters that is there; empty for none.
func (p AdditionalParams) NeedsCode() string {
	for _, name := range code {
		if _, given := p.Others[name]; given {
			return name
		}
	}
	return ""
}

// UploadFromRequest is SOL005's UploadVnfPackageFromUriRequest.
type UploadFromRequest struct {
	URI      string      `json:"addressInformation"`
	Username string      `json:"userName,omitempty"`
	Password secret.Text `json:"password,omitzero"`
}

// InstantiateRequest is InstantiateVnfRequest.
type InstantiateRequest struct {
	FlavourID string                       `json:"flavourId"`
	LevelID   string                       `json:"instantiationLevelId,omitempty"`
	VIMs      map[string]VIMConnectionInfo `json:"vimConnectionInfo,omitempty"`
	Params    AdditionalParams             `json:"additionalParams,omitzero"`
	AskedLinks
}

// AskedLinks are the networks that a request connects an instance to.
type AskedLinks struct {
	External []AskedLink `json:"extVirtualLinks,omitempty"`
	Managed  []AskedLink `json:"extManagedVirtualLinks,omitempty"`
}

// AskedLink is ExtVirtualLinkData or, with a DescID, ExtManagedVirtualLinkData. ResourceID is the id or name of a virtual link,
// or the VIM's id of a network.
type AskedLink struct {
	ID         string           `json:"id"`
	DescID     string           `json:"vnfVirtualLinkDescId,omitempty"`
	VIM        string           `json:"vimConnectionId,omitempty"`
	ResourceID string           `json:"resourceId"`
	CPs        []ExtCP          `json:"extCps,omitempty"`
	Ports      []jsontext.Value `json:"extLinkPorts,omitempty"`
}

// ExtCP is VnfExtCpData.
type ExtCP struct {
	CPDID  string              `json:"cpdId"`
	Config map[string]CPConfig `json:"cpConfig,omitempty"`
}

// CPConfig is VnfExtCpConfig.
type CPConfig struct {
	PortID   string       `json:"linkPortId,omitempty"`
	Protocol []CPProtocol `json:"cpProtocolData,omitempty"`
}

// ConfigID is the name of how it is configured.
func (c ExtCP) ConfigID() string {
	for id := range c.Config {
		return id
	}
	return c.CPDID
}

// Fixed are the addresses that it asks for, each by itself; one of a subnet alone is any of that.
func (c ExtCP) Fixed() (all []IPAddresses) {
	for _, p := range c.Config[c.ConfigID()].Protocol {
		for _, of := range p.Address.IPs {
			for _, ip := range of.Fixed {
				all = append(all, IPAddresses{Fixed: []string{ip}, SubnetID: of.SubnetID})
			}
			if len(of.Fixed) == 0 && of.SubnetID != "" {
				all = append(all, IPAddresses{SubnetID: of.SubnetID})
			}
		}
	}
	return all
}

// ConnectRequest is ChangeExtVnfConnectivityRequest.
type ConnectRequest struct {
	External []AskedLink `json:"extVirtualLinks"`
}

// ExtLinkInfo is ExtVirtualLinkInfo.
type ExtLinkInfo struct {
	ID     string         `json:"id"`
	Handle ResourceHandle `json:"resourceHandle"`
	CPs    []ExtCP        `json:"currentVnfExtCpData"`
	Ports  []ExtLinkPort  `json:"extLinkPorts,omitempty"`
}

// ExtLinkPort is ExtLinkPortInfo: a port whose address a pod has.
type ExtLinkPort struct {
	ID     string         `json:"id"`
	Handle ResourceHandle `json:"resourceHandle"`
}

// LinkInfo is ExtManagedVirtualLinkInfo, VnfVirtualLinkResourceInfo, and with a ChangeType AffectedVirtualLink.
type LinkInfo struct {
	ID         string         `json:"id"`
	DescID     string         `json:"vnfVirtualLinkDescId"`
	ChangeType string         `json:"changeType,omitempty"`
	Network    ResourceHandle `json:"networkResource"`
}

// ScaleRequest is ScaleVnfRequest.
type ScaleRequest struct {
	Type     string `json:"type"`
	AspectID string `json:"aspectId"`
	Steps    *int   `json:"numberOfSteps,omitempty"`
}

// The types of scaling.
const (
	ScaleOut = "SCALE_OUT"
	ScaleIn  = "SCALE_IN"
)

// HealRequest is HealVnfRequest.
type HealRequest struct {
	VNFCs []string `json:"vnfcInstanceId,omitempty"`
	Cause string   `json:"cause,omitempty"`
}

// ChangePackageRequest is ChangeCurrentVnfPkgRequest.
type ChangePackageRequest struct {
	VNFDID string                       `json:"vnfdId"`
	VIMs   map[string]VIMConnectionInfo `json:"vimConnectionInfo,omitempty"`
	Params AdditionalParams             `json:"additionalParams,omitzero"`
	AskedLinks
}

// TerminateRequest is TerminateVnfRequest.
type TerminateRequest struct {
	Type string `json:"terminationType"`
}

// CancelRequest is CancelMode.
type CancelRequest struct {
	Mode string `json:"cancelMode"`
}

// ModifyRequest is VnfInfoModificationRequest, a merge patch.
type ModifyRequest struct {
	Name         *string        `json:"vnfInstanceName,omitzero"`
	Description  *string        `json:"vnfInstanceDescription,omitzero"`
	Metadata     jsontext.Value `json:"metadata,omitzero"`
	Extensions   jsontext.Value `json:"extensions,omitzero"`
	Configurable jsontext.Value `json:"vnfConfigurableProperties,omitzero"`
	VNFDID       *string        `json:"vnfdId,omitempty"`
	// VIMs is a merge patch: null for a VIM takes it away, which is refused.
	VIMs map[string]*VIMConnectionInfo `json:"vimConnectionInfo,omitempty"`
}

// Preview lists the effects of an operation: the answer to a request with the query parameter
// [DryRun], which the standard does not define.
type Preview struct {
	// Allowed: policy allows the plan and every lease, and nothing else that is known now refuses the first one. Those
	// after it may rest on what is made before.
	Allowed bool           `json:"allowed"`
	Refusal string         `json:"refusal,omitempty"`
	Leases  []PreviewLease `json:"leases"`
	Effects []Effect       `json:"effects"`
	Images  []string       `json:"images,omitempty"`
	// Further facts for policies.
	ClusterScoped     bool `json:"clusterScoped"`
	Privileged        bool `json:"privileged"`
	BringsRBAC        bool `json:"bringsRBAC"`
	BringsDefinitions bool `json:"bringsDefinitions"`
	BringsWebhooks    bool `json:"bringsWebhooks"`
	// PodSecurity is the strictest level of Pod Security that every pod meets.
	PodSecurity string `json:"podSecurity,omitempty"`
	// Reaches are the ways by which objects get out of their namespaces, at most [MaxReaches].
	Reaches        []Reach `json:"reaches"`
	ReachesLeftOut int     `json:"reachesLeftOut,omitempty"`
	// NotDone is as in [InstanceDetail].
	NotDone []string `json:"notDone,omitempty"`
}

// Effect is what an operation does to one resource.
type Effect struct {
	// Deed is one of the words below.
	Deed string `json:"deed"`
	Resource
	// Replicas is the number that [DeedScale] sets.
	Replicas *int32 `json:"replicas,omitempty"`
}

// The words of [Effect.Deed].
const (
	DeedMake    = "make"    // the instance does not have it yet
	DeedApply   = "apply"   // it stands, and is changed where it differs from the manifest
	DeedScale   = "scale"   // its replicas are set
	DeedReplace = "replace" // pods or servers of it are removed, and others follow them
	DeedDelete  = "delete"
)

// MaxReaches is how many ways a [Preview] shows.
const MaxReaches = 200

// Reach is one way by which an object gets out of its namespace.
type Reach struct {
	// The thing reached: node, network, cluster, rbac, definitions, webhooks, or unknown.
	What      string `json:"what"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Field says where in the object, Why what comes of it. Neither holds a value that may be a secret.
	Field string `json:"field"`
	Why   string `json:"why"`
}

// DryRun is the query parameter that asks for a [Preview].
const DryRun = "dry_run"

// PreviewLease is a lease that an operation would take.
type PreviewLease struct {
	Purpose      string   `json:"purpose,omitempty"`
	Rules        []Rule   `json:"rules"`
	Namespaces   []string `json:"namespaces,omitempty"`
	ClusterWide  bool     `json:"clusterWide"`
	Grade        string   `json:"grade,omitempty"`
	GradeReasons []string `json:"gradeReasons,omitempty"`
	Refusal      string   `json:"refusal,omitempty"`
}

// Rule has the fields of a Kubernetes PolicyRule.
type Rule struct {
	APIGroups     []string `json:"apiGroups"`
	Resources     []string `json:"resources"`
	ResourceNames []string `json:"resourceNames,omitempty"`
	Verbs         []string `json:"verbs"`
}
