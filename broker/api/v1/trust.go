package v1

import (
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// TrustEntryRequest is an entry of the table of trust as it is to be.
type TrustEntryRequest struct {
	Name         string             `json:"name" doc:"Qualifies the names of its principals: letters, digits and ._@-" minLength:"1" maxLength:"128" example:"corp"`
	Issuer       string             `json:"issuer,omitempty" doc:"Issuer of tokens, as iss has it" example:"https://id.example"`
	VIM          string             `json:"vim,omitempty" doc:"Registered cluster whose service accounts are callers: its id, or PROJECT/NAME" example:"core/hub-1"`
	Certificates *TrustCertificates `json:"certificates,omitempty" doc:"Authorities of callers' certificates; without principals, of registered clients'"`
	Audience     string             `json:"audience,omitempty" doc:"The one audience of tokens; absent means vimbroker" example:"vimbroker"`
	Algorithms   []string           `json:"algorithms,omitempty" doc:"Algorithms that may sign; absent means RS256, PS256, ES256 and EdDSA" example:"[\"RS256\"]"`
	Keys         string             `json:"keys,omitempty" doc:"JWK set, in JSON; absent finds the keys by discovery"`
	CA           string             `json:"ca,omitempty" doc:"Authorities of the issuer's server, in PEM; absent means the system's"`
	Type         string             `json:"type,omitempty" doc:"Header typ that tokens must have; absent takes JWT, at+jwt, or none" example:"at+jwt"`
	MaxLife      string             `json:"maxLife,omitempty" doc:"How long a token or certificate may be good for in all, as a Go duration; absent means 24h" example:"10m0s"`
	Once         bool               `json:"once,omitzero" doc:"Each token is taken once, by its jti" example:"false"`
	Platform     string             `json:"platform,omitempty" doc:"Platform where anybody can have a token: rules name the project" enum:"github,gitlab" example:"github"`
	Login        *TrustLogin        `json:"login,omitempty" doc:"How people log in there; absent: they do not"`
	Hold         string             `json:"hold,omitempty" doc:"How long work goes on for a caller who is gone, as a Go duration; absent means 1h" example:"1h0m0s"`
	Principals   []TrustRule        `json:"principals,omitempty" doc:"Rules that make principals of claims, of which the first that matches counts" maxItems:"100"`
}

// TrustCertificates are texts in PEM.
type TrustCertificates struct {
	CA  string `json:"ca" doc:"The authorities"`
	CRL string `json:"crl,omitempty" doc:"Lists of revoked certificates that they issued"`
}

// TrustLogin is a public client of an issuer.
type TrustLogin struct {
	ClientID string   `json:"clientID" doc:"Its id" example:"vimbroker-cli"`
	Scopes   []string `json:"scopes,omitempty" doc:"Scopes to ask for; absent means openid, and offline_access where the issuer has it"`
}

// TrustRule makes a principal of claims.
type TrustRule struct {
	Match    map[string]string `json:"match" doc:"Pattern of each claim, all of which match; * stands for any text"`
	Name     string            `json:"name,omitempty" doc:"Name for people, with claims in braces; absent means the subject" example:"{preferred_username}"`
	Project  string            `json:"project" doc:"Project that the principal acts in, or a claim in braces" example:"acme"`
	Projects []string          `json:"projects,omitempty" doc:"Those that a claim may choose among" example:"[\"acme\",\"core\"]"`
	Roles    []string          `json:"roles" doc:"Its roles there" example:"[\"member\"]"`
}

// TrustEntry is an entry of the table of trust.
type TrustEntry struct {
	TrustEntryRequest
	Keystone  string    `json:"keystone,omitempty" doc:"Address of the Keystone whose tokens callers bring"`
	Origin    string    `json:"origin" doc:"Where it is kept: the server's configuration, which only that changes, or the database" enum:"configuration,database"`
	Fault     string    `json:"fault,omitempty" doc:"Why it does not count"`
	CreatedBy string    `json:"createdBy,omitempty" doc:"Principal that made it" example:"alice"`
	CreatedAt time.Time `json:"createdAt,omitzero" doc:"When it was made"`
	UpdatedBy string    `json:"updatedBy,omitempty" doc:"Principal that changed it last" example:"alice"`
	UpdatedAt time.Time `json:"updatedAt,omitzero" doc:"When it was changed last"`
}

// TrustTrialRequest asks how a token would fare.
type TrustTrialRequest struct {
	Token secret.Text `json:"token" doc:"The token; it is not kept, and counts as not used"`
}

// TrustTrial is how a token would fare at the table of trust.
type TrustTrial struct {
	Principal *Principal `json:"principal,omitempty" doc:"Who its bearer would be; absent: nobody"`
	Shown     string     `json:"shown,omitempty" doc:"The name for people"`
	Entry     string     `json:"entry,omitempty" doc:"Entry that it is about; absent: of no issuer in the table" example:"corp"`
	Rule      string     `json:"rule,omitempty" doc:"Rule that matches" example:"principals[0]"`
	Reason    string     `json:"reason,omitempty" doc:"Why it is refused" example:"audience is another"`
	Rules     []string   `json:"rules,omitempty" doc:"Why each rule does not match"`
	Once      bool       `json:"once,omitzero" doc:"Whether the entry takes it once, which this does not count for" example:"false"`
	ExpiresAt time.Time  `json:"expiresAt,omitzero" doc:"When it ends"`
}
