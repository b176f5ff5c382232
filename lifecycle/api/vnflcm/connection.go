package vnflcm

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// askedVIMs puts into a request the VIMs that its vimConnectionInfo names or brings, if any.
func askedVIMs(in sol003.InstantiateRequest, r *lifecycle.Instantiation) error {
	if len(in.VIMs) > 2 {
		return broker.Invalid("vimConnectionInfo", "names %d VIMs, and an instance is on two at most", len(in.VIMs))
	}
	if len(in.VIMs) > 1 && in.Params.Valued() {
		return broker.Invalid("additionalParams", "gives values of a chart, which an instance on two VIMs does not take: put them into the chart")
	}
	for n, key := range slices.Sorted(maps.Keys(in.VIMs)) {
		site, err := askedVIM(key, in.VIMs[key])
		if err != nil {
			return err
		}
		if n == 0 {
			r.VIM, r.Connection, r.Inline = site.VIM, site.Connection, site.Inline
		} else {
			r.More = append(r.More, site)
		}
	}
	return nil
}

// askedVIM is the VIM that a request names or brings under a key.
func askedVIM(key string, info sol003.VIMConnectionInfo) (r lifecycle.Site, err error) {
	r.Connection = key
	if !info.Brings() {
		if r.VIM = info.VIMID; r.VIM == "" {
			err = broker.Invalid("vimConnectionInfo", "names no vimId, and brings no accessInfo")
		}
		return r, err
	}
	if info.AccessInfo == nil || info.InterfaceInfo == nil {
		return r, &broker.Error{
			Kind: broker.ErrInvalid, Field: "vimConnectionInfo", Detail: "a VIM that the request brings needs both interfaceInfo and accessInfo",
			Remedy: "give both, or the vimId of a registered VIM alone",
		}
	}
	brought, err := inline(info)
	if err == nil && brought.Type == "" {
		err = missing("vimConnectionInfo." + key + ".vimType")
	}
	r.Inline = &brought
	return r, err
}

// changedVIM puts into a modification the VIM that the instance moves to, or what becomes of the one that came with a request.
func changedVIM(infos map[string]*sol003.VIMConnectionInfo, m *lifecycle.Modification) error {
	if len(infos) > 1 {
		return broker.Invalid("vimConnectionInfo", "names %d VIMs, and one is changed at a time", len(infos))
	}
	for key, info := range infos {
		m.Connection = key
		switch {
		case info == nil:
			return broker.Invalid("vimConnectionInfo", "cannot be taken away while the instance is on it")
		case !info.Brings() && info.VIMID != "":
			m.VIM = info.VIMID
			return nil
		case info.AccessInfo == nil:
			return &broker.Error{
				Kind: broker.ErrInvalid, Field: "vimConnectionInfo", Detail: "nothing of a VIM is changed without its credential",
				Remedy: "give accessInfo again, or the vimId of a registered VIM alone",
			}
		}
		brought, err := inline(*info)
		if err != nil {
			return err
		}
		m.Inline = &brought
	}
	return nil
}

// helmType is Tacker's name for a cluster that it runs charts on.
const helmType = "ETSINFV.HELM.V_3"

// inline is a VIM that a request brings. The two spellings of the types are those of ETSI's registry and of Tacker.
func inline(info sol003.VIMConnectionInfo) (lifecycle.InlineVIM, error) {
	var in lifecycle.InlineVIM
	if info.VIMType != "" {
		for name, spelled := range vimTypes {
			if info.VIMType == spelled || info.VIMType == name || info.VIMType == helmType && name == "kubernetes" {
				in.Type = broker.VIMType(name)
			}
		}
		if in.Type == "" {
			return in, &broker.Error{
				Kind: broker.ErrUnsupported, Field: "vimConnectionInfo", Detail: "brings a VIM of a type that is not known here",
				Remedy: "use " + vimTypes["kubernetes"] + " or " + vimTypes["openstack"],
			}
		}
	}
	a := info.AccessInfo
	if a.OIDCTokenURL != "" {
		return in, &broker.Error{
			Kind: broker.ErrUnsupported, Field: "vimConnectionInfo",
			Detail: "access by OpenID Connect is not supported: no lease can be derived from such a login",
			Remedy: "give a bearer_token",
		}
	}
	if f := info.InterfaceInfo; f != nil {
		if f.SkipHostname && !f.SkipVerification {
			return in, &broker.Error{
				Kind: broker.ErrUnsupported, Field: "vimConnectionInfo", Detail: "a certificate is verified with its host name, or not at all",
				Remedy: "leave skipCertificateHostnameCheck out",
			}
		}
		in.Endpoint, in.CACert, in.InsecureSkipVerify = f.Endpoint, f.CACert, f.SkipVerification
		if len(f.Trusted) > 0 {
			in.CACert = strings.Join(f.Trusted, "\n")
		}
	}
	in.Scope = broker.Scope{
		Region: a.Region, ProjectName: a.Project, ProjectDomainName: a.ProjectDomain, UserDomainName: a.UserDomain,
	}
	in.Credential = broker.Credential{
		Token: a.BearerToken, Username: a.Username, Password: a.Password,
		ApplicationCredentialID: a.ApplicationCredentialID, ApplicationCredentialSecret: a.ApplicationCredentialSecret,
	}
	return in, nil
}

// showable is a request without the values of a chart, which may be passwords, and without the data on VIMs except
// their names: so it holds no credential, whatever its member is called.
func showable(request []byte) (json.RawMessage, error) {
	plain, err := unvalued(request)
	if err != nil {
		return nil, err
	}
	return unbrought(plain)
}

// unvalued is a request without the values of a chart, and without those of parameters that are not known here.
func unvalued(request []byte) (json.RawMessage, error) {
	var all, given map[string]jsontext.Value
	if err := wire.Tolerant(request, &all); err != nil {
		return nil, err
	}
	if wire.Tolerant(all["additionalParams"], &given) != nil {
		return request, nil
	}
	known := sol003.ParamNames()
	maps.DeleteFunc(given, func(name string, _ jsontext.Value) bool {
		return name == "helm_values" || name == "helm_parameters" || !slices.Contains(known, name)
	})
	var named, shown bytes.Buffer
	if err := wire.Encode(&named, given); err != nil {
		return nil, err
	}
	all["additionalParams"] = named.Bytes()
	err := wire.Encode(&shown, all)
	return shown.Bytes(), err
}

// unbrought is a request without its data on VIMs except their names.
func unbrought(request []byte) (json.RawMessage, error) {
	var all map[string]jsontext.Value
	if err := wire.Tolerant(request, &all); err != nil {
		return nil, err
	}
	given, has := all["vimConnectionInfo"]
	if !has {
		return request, nil
	}
	delete(all, "vimConnectionInfo")
	var infos map[string]*struct {
		VIMID   string `json:"vimId,omitempty"`
		VIMType string `json:"vimType,omitempty"`
	}
	if wire.Tolerant(given, &infos) == nil && len(infos) > 0 {
		var named bytes.Buffer
		if err := wire.Encode(&named, infos); err != nil {
			return nil, err
		}
		all["vimConnectionInfo"] = named.Bytes()
	}
	var shown bytes.Buffer
	err := wire.Encode(&shown, all)
	return shown.Bytes(), err
}
