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
	// Extra is the broker's own: the lease, and when it ends by itself.
	Extra map[string]string `json:"extra"`
}

// connectionInfo is the configuration as a VNFM takes it, with the access members
// that have a value.
func connectionInfo(c Config, vimType string, face map[string]any, access map[string]string) (secret.Text, error) {
	v := vimConnection{
		VIMID: c.VIMID, VIMType: vimType, InterfaceInfo: face,
		AccessInfo: map[string]string{}, Extra: map[string]string{"leaseId": c.Lease},
	}
	if !c.ExpiresAt.IsZero() {
		v.Extra["expiresAt"] = c.ExpiresAt.UTC().Format(time.RFC3339)
	}
	for name, value := range access {
		if value != "" {
			v.AccessInfo[name] = value
		}
	}
	return encodeJSON(v, "  ")
}

func (KubernetesClient) vimConnectionInfo(c Config) (secret.Text, error) {
	if c.ClientCertificate != "" {
		return secret.Text{}, fmt.Errorf("vimConnectionInfo knows no client certificate: %w", ErrFormat)
	}
	face := map[string]any{"endpoint": c.Endpoint}
	if ca := c.verified(c.CACert); ca != "" {
		face["ssl_ca_cert"] = ca
	}
	return connectionInfo(c, kubernetesType, face, map[string]string{
		"username": c.Username, "password": c.Password.Reveal(), "bearer_token": c.Token.Reveal(),
	})
}

// vimConnectionInfo names an application credential and a token of Keystone's as
// clouds.yaml does: SOL 003 has no names for them. A user's domain is named: the
// standard has no member for its id.
func (l OpenStackClient) vimConnectionInfo(c Config) (secret.Text, error) {
	if !c.Password.Empty() && l.UserDomain == "" {
		return secret.Text{}, fmt.Errorf("vimConnectionInfo names the user's domain, of which only the id is known: %w", ErrFormat)
	}
	face := map[string]any{"endpoint": authURL(c), "skipCertificateVerification": c.InsecureSkipVerify}
	if ca := c.verified(c.CACert); ca != "" {
		face["trustedCertificates"] = each(ca)
	}
	return connectionInfo(c, keystoneType, face, map[string]string{
		"region": l.Region, "project": l.ProjectName, "projectDomain": l.ProjectDomain,
		"application_credential_id":     c.ApplicationCredentialID,
		"application_credential_secret": c.ApplicationCredentialSecret.Reveal(),
		"token":                         c.Token.Reveal(),
		"username":                      c.Username,
		"password":                      c.Password.Reveal(),
		"userDomain":                    l.UserDomain,
	})
}

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
