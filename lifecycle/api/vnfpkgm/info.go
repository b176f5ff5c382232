package vnfpkgm

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/codec"
	"github.com/vimbroker/vimbroker/broker/api/sol013"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
)

var wire codec.Codec

// Values of the standard's states.
const (
	enabled  = "ENABLED"
	disabled = "DISABLED"
)

// info is a VnfPkgInfo (SOL003 clause 10.5.2.2), with a member of our own.
type info struct {
	ID              string         `json:"id"`
	VNFDID          string         `json:"vnfdId,omitempty"`
	Provider        string         `json:"vnfProvider,omitempty"`
	ProductName     string         `json:"vnfProductName,omitempty"`
	SoftwareVersion string         `json:"vnfSoftwareVersion,omitempty"`
	VNFDVersion     string         `json:"vnfdVersion,omitempty"`
	Checksum        any            `json:"checksum,omitempty"`
	SecurityOption  string         `json:"packageSecurityOption"`
	Artifacts       []artifact     `json:"additionalArtifacts,omitempty"`
	Onboarding      string         `json:"onboardingState"`
	Operational     string         `json:"operationalState"`
	Usage           string         `json:"usageState"`
	VNFMInfo        any            `json:"vnfmInfo"`
	UserDefinedData jsontext.Value `json:"userDefinedData,omitempty"`
	Own             own            `json:"vimbroker"`
	Links           links          `json:"_links"`
}

// own holds the attributes that the standard does not define.
type own struct {
	Project string `json:"project"`
	// Size is that of the content in bytes, and SHA256 its digest.
	Size   int64  `json:"size,omitzero"`
	SHA256 string `json:"sha256,omitempty"`
	// Signer is who signed the package, if that was verified.
	Signer string `json:"signer,omitempty"`
	// Warnings are sentences about what seems wrong in the content.
	Warnings    []string  `json:"warnings,omitempty"`
	CreatedAt   time.Time `json:"createdAt"`
	OnboardedAt time.Time `json:"onboardedAt,omitzero"`
}

// checksum is the form of a hash in version 1; version 2 writes its digits alone.
type checksum struct {
	Algorithm string `json:"algorithm"`
	Hash      string `json:"hash"`
}

type artifact struct {
	Path      string `json:"artifactPath"`
	Checksum  any    `json:"checksum"`
	Encrypted bool   `json:"isEncrypted"`
}

type links struct {
	Self    link  `json:"self"`
	VNFD    *link `json:"vnfd,omitempty"`
	Content link  `json:"packageContent"`
}

type link struct {
	Href string `json:"href"`
}

// modifications is a VnfPkgInfoModifications (SOL005 clause 9.5.2.2).
type modifications struct {
	OperationalState string         `json:"operationalState,omitempty"`
	UserDefinedData  jsontext.Value `json:"userDefinedData,omitempty"`
}

// shape lists the attributes that selectors reach. SOL003 clause 10.4.2.3.2 defines the attributes
// that lists leave out by default.
var shape = sol013.Selectable{
	Mandatory:         []string{"id", "packageSecurityOption", "operationalState", "usageState", "vnfmInfo", "_links"},
	ExcludedByDefault: []string{"softwareImages", "additionalArtifacts", "userDefinedData", "checksum"},
}

// show is a package as a caller reads it.
func show(c *api.Call, p catalog.Package) info {
	first := strings.HasPrefix(c.URL.Path, prefix+"/v1/")
	base := prefix + "/v2"
	if first {
		base = prefix + "/v1"
	}
	self := sol013.URL(c, base+"/vnf_packages/"+p.ID)
	sum := func(algorithm, hash string) any {
		if first {
			return checksum{algorithm, hash}
		}
		return hash
	}
	i := info{
		ID: p.ID, SecurityOption: securityOption(p), Onboarding: onboarding(p.State), Operational: operational(p), Usage: "NOT_IN_USE",
		UserDefinedData: kept(p.UserData),
		Own:             own{Project: p.Project, CreatedAt: p.CreatedAt, Signer: p.Signer, Warnings: p.Warnings},
		Links:           links{Self: link{self}, Content: link{self + "/package_content"}},
	}
	i.VNFMInfo = strings.Join(p.VNFMInfo, " ")
	if first {
		i.VNFMInfo = append([]string{}, p.VNFMInfo...)
	}
	if p.InUse {
		i.Usage = "IN_USE"
	}
	if !p.State.Onboarded() {
		return i
	}
	i.VNFDID, i.Provider, i.ProductName, i.SoftwareVersion, i.VNFDVersion = p.VNFDID, p.Provider, p.ProductName,
		p.SoftwareVersion, p.VNFDVersion
	i.Checksum = sum("SHA-512", p.SHA512)
	for _, a := range p.Artifacts {
		i.Artifacts = append(i.Artifacts, artifact{Path: a.Path, Checksum: sum(a.Algorithm, a.Hash)})
	}
	i.Own.Size, i.Own.SHA256, i.Own.OnboardedAt = p.Size, p.SHA256, p.OnboardedAt
	i.Links.VNFD = &link{self + "/vnfd"}
	return i
}

func onboarding(s catalog.State) string {
	if s.Onboarded() {
		return "ONBOARDED"
	}
	return strings.ToUpper(string(s))
}

func operational(p catalog.Package) string {
	if p.State == catalog.Enabled {
		return enabled
	}
	return disabled
}

// kept is a stored JSON object, or nil.
func kept(text string) jsontext.Value {
	v, ok := codec.Kept(text)
	if !ok {
		return nil
	}
	return v
}

// object is a JSON object of a request.
type object jsontext.Value

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) { return o, nil }

// UnmarshalJSON implements [json.Unmarshaler].
func (o *object) UnmarshalJSON(b []byte) error {
	*o = append(object(nil), b...)
	return nil
}

func (o object) given() bool { return len(o) > 0 && string(o) != "null" }

// over is the object merged into another (RFC 7396); empty for none.
func (o object) over(before string) (string, error) {
	if !o.given() {
		return before, nil
	}
	if jsontext.Value(o).Kind() != '{' {
		return "", broker.Invalid("userDefinedData", "must be a JSON object")
	}
	return sol013.Merge(before, o)
}

// securityOption is how the package is signed, if it is (SOL004 clause 5.1).
func securityOption(p catalog.Package) string {
	if p.Wrapped {
		return "OPTION_2"
	}
	return "OPTION_1"
}
