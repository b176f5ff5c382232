package fakekube

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// minTokenTTL is the least that a TokenRequest may ask for.
	minTokenTTL = 10 * time.Minute
	// leeway is how much longer than they say an API server honours a token
	// past its expiry, and a bound object past its deletion timestamp.
	leeway = time.Minute

	issuer = "https://kubernetes.default.svc.cluster.local"
)

// Token is a credential that the fake has issued, without the credential.
type Token struct {
	ID             string    `json:"id"`
	Namespace      string    `json:"namespace"`
	ServiceAccount string    `json:"serviceAccount"`
	Secret         string    `json:"secret,omitempty"`
	ExpiresAt      time.Time `json:"expiresAt,omitzero"`
}

// claims is the body of a service account token, with the fields of a real one.
type claims struct {
	Audience   []string   `json:"aud"`
	Expiry     int64      `json:"exp,omitempty"`
	IssuedAt   int64      `json:"iat"`
	Issuer     string     `json:"iss"`
	ID         string     `json:"jti"`
	NotBefore  int64      `json:"nbf"`
	Subject    string     `json:"sub"`
	Kubernetes kubernetes `json:"kubernetes.io"`
}

type kubernetes struct {
	Namespace      string    `json:"namespace"`
	Secret         *claimRef `json:"secret,omitempty"`
	ServiceAccount claimRef  `json:"serviceaccount"`
}

type claimRef struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

// requestToken answers a TokenRequest; the caller holds s.mu.
func (s *Server) requestToken(namespace, name string, req *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error) {
	accounts, _ := find(corev1.SchemeGroupVersion.WithResource("serviceaccounts"))
	account, err := s.get(accounts, namespace, name)
	if err != nil {
		return nil, err
	}
	kind := schema.GroupKind{Group: authenticationv1.GroupName, Kind: "TokenRequest"}
	seconds := int64(time.Hour / time.Second)
	if req.Spec.ExpirationSeconds != nil {
		seconds = *req.Spec.ExpirationSeconds
	}
	if seconds < int64(minTokenTTL/time.Second) {
		return nil, apierrors.NewInvalid(kind, "", field.ErrorList{
			field.Invalid(field.NewPath("spec", "expirationSeconds"), seconds, "may not specify a duration less than 10 minutes"),
		})
	}
	var bound *claimRef
	if ref := req.Spec.BoundObjectRef; ref != nil {
		if ref.APIVersion != "v1" || ref.Kind != "Secret" {
			return nil, apierrors.NewBadRequest("cannot bind token to object of type " + ref.APIVersion + ", Kind=" + ref.Kind)
		}
		secrets, _ := find(corev1.SchemeGroupVersion.WithResource("secrets"))
		secret, err := s.get(secrets, namespace, ref.Name)
		if err != nil {
			return nil, err
		}
		if ref.UID != "" && ref.UID != secret.GetUID() {
			return nil, apierrors.NewConflict(schema.GroupResource{Resource: "Secret"}, ref.Name, fmt.Errorf(
				"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
		}
		bound = &claimRef{ref.Name, string(secret.GetUID())}
	}
	ttl := min(time.Duration(seconds)*time.Second, s.opts.MaxTokenTTL)
	now := s.now().UTC().Truncate(time.Second)
	seconds = int64(ttl / time.Second)
	out := req.DeepCopy()
	out.Name, out.Namespace, out.UID = name, namespace, account.GetUID()
	out.CreationTimestamp = metav1.NewTime(now)
	out.Spec.ExpirationSeconds = &seconds
	if len(out.Spec.Audiences) == 0 {
		out.Spec.Audiences = []string{issuer}
	}
	out.Status.Token = s.sign(account, bound, out.Spec.Audiences, now.Add(ttl))
	out.Status.ExpirationTimestamp = metav1.NewTime(now.Add(ttl))
	return out, nil
}

// sign makes a token and remembers what it is for. A zero expiry makes one that
// lasts for ever, as the legacy tokens did. The caller holds s.mu.
func (s *Server) sign(account object, bound *claimRef, audience []string, expiry time.Time) string {
	now := s.now().Unix()
	c := claims{
		Audience: audience, IssuedAt: now, NotBefore: now, Issuer: issuer, ID: uuid.NewString(),
		Subject: "system:serviceaccount:" + account.GetNamespace() + ":" + account.GetName(),
		Kubernetes: kubernetes{
			Namespace: account.GetNamespace(), Secret: bound,
			ServiceAccount: claimRef{account.GetName(), string(account.GetUID())},
		},
	}
	if !expiry.IsZero() {
		c.Expiry = expiry.Unix()
	}
	body, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"alg":"HS256","kid":"fakekube"}`)) + "." + enc.EncodeToString(body)
	s.issued = append(s.issued, c)
	return text + "." + enc.EncodeToString(s.mac(text))
}

// RevokeToken has one token refused from now on, as a static one that was taken from its file.
func (s *Server) RevokeToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked[sha256.Sum256([]byte(token))] = true
}

// verify reads a token and says whose it is; false when it is not or no longer
// a token of this server. The caller holds s.mu.
func (s *Server) verify(token string) (claims, bool) {
	at := strings.LastIndexByte(token, '.')
	if at < 0 {
		return claims{}, false
	}
	text, signature := token[:at], token[at+1:]
	mac, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(mac, s.mac(text)) {
		return claims{}, false
	}
	_, body, _ := strings.Cut(text, ".")
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return claims{}, false
	}
	var c claims
	if err := json.Unmarshal(raw, &c); err != nil {
		return claims{}, false
	}
	now, digest := s.now(), sha256.Sum256([]byte(token))
	if s.revoked[digest] {
		return claims{}, false
	}
	if s.opts.CacheLag > 0 && now.Before(s.cache[digest]) {
		return c, true
	}
	if !s.alive(c) {
		return claims{}, false
	}
	s.cache[digest] = now.Add(s.opts.CacheLag)
	return c, true
}

// alive reports whether a token's expiry, account and bound Secret still hold.
func (s *Server) alive(c claims) bool {
	now := s.now()
	if c.Expiry != 0 && now.Add(-leeway).After(time.Unix(c.Expiry, 0)) {
		return false
	}
	holds := func(plural string, ref claimRef) bool {
		r, _ := find(corev1.SchemeGroupVersion.WithResource(plural))
		o, err := s.get(r, c.Kubernetes.Namespace, ref.Name)
		if err != nil || string(o.GetUID()) != ref.UID {
			return false
		}
		deleted := o.GetDeletionTimestamp()
		return deleted == nil || !deleted.Time.Before(now.Add(-leeway))
	}
	return holds("serviceaccounts", c.Kubernetes.ServiceAccount) &&
		(c.Kubernetes.Secret == nil || holds("secrets", *c.Kubernetes.Secret))
}

func (s *Server) mac(text string) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
