package clientconfig

import (
	"encoding/pem"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// vimType values of ETSI's registry, as VNFMs spell them.
const (
	keystoneType   = "ETSINFV.OPENSTACK_KEYSTONE.V_3"
	kubernetesType = "ETSINFV.KUBERNETES.V_1"
)

// vimConnection is one VimConnectionInfo of ETSI GS NFV-SOL 003 (4.4.1.6). It
// holds plaintext, from filling to encoding.
type vimConnection struct {
	VIMID         string            `json:"vimId"`
	VIMType       string            `json:"vimType"`
	InterfaceInfo map[string]any    `json:"interfaceInfo"`
	AccessInfo    map[string]string `json:"accessInfo"`
	// Extra is ours: the lease, and when it ends by itself.
	Extra map[string]string `json:"extra"`
}

// vimConnectionInfo is the configuration as a VNFM takes it. SOL 003 has no names
// for an application credential and for a token of Keystone's; those of clouds.yaml
// stand in.
func (c Config) vimConnectionInfo() (secret.Text, error) {
	if c.ClientCertificate != "" {
		return secret.Text{}, fmt.Errorf("vimConnectionInfo knows no client certificate: %w", ErrFormat)
	}
	v := vimConnection{
		VIMID: c.VIMID, VIMType: kubernetesType,
		InterfaceInfo: map[string]any{"endpoint": c.Endpoint},
		AccessInfo:    map[string]string{}, Extra: map[string]string{"leaseId": c.Lease},
	}
	if !c.ExpiresAt.IsZero() {
		v.Extra["expiresAt"] = c.ExpiresAt.UTC().Format(time.RFC3339)
	}
	access := map[string]string{"username": c.Username, "password": c.Password.Reveal(), "bearer_token": c.Token.Reveal()}
	if ca := c.verified(c.CACert); ca != "" {
		v.InterfaceInfo["ssl_ca_cert"] = ca
	}
	if c.onCloud() {
		v.VIMType = keystoneType
		v.InterfaceInfo = map[string]any{"endpoint": c.authURL(), "skipCertificateVerification": c.InsecureSkipVerify}
		if ca := c.verified(c.CACert); ca != "" {
			v.InterfaceInfo["trustedCertificates"] = each(ca)
		}
		access = map[string]string{
			"region": c.Cloud.Region, "project": c.Cloud.ProjectName, "projectDomain": c.Cloud.ProjectDomain,
			"application_credential_id":     c.Cloud.ApplicationCredentialID,
			"application_credential_secret": c.Cloud.ApplicationCredentialSecret.Reveal(),
			"token":                         c.Token.Reveal(),
		}
	}
	for name, value := range access {
		if value != "" {
			v.AccessInfo[name] = value
		}
	}
	return encodeJSON(v, "  ")
}

// each takes a PEM bundle apart.
func each(bundle string) []string {
	var all []string
	for rest := []byte(bundle); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return all
		}
		all = append(all, string(pem.EncodeToMemory(block)))
	}
}
