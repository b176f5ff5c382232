package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
)

// anonymous is who the API server takes a caller for whose credential it did not look at.
const anonymous = "system:anonymous"

// Check implements [broker.Driver]. The identity is the UID of namespace
// kube-system. It needs Kubernetes 1.28 or newer (SelfSubjectReview).
func (d *Driver) Check(ctx context.Context, a broker.Access) (broker.Report, error) {
	return over(ctx, d, a, func(ctx context.Context, c *connection) (broker.Report, error) {
		user, err := c.authenticated(ctx)
		if err != nil {
			return broker.Report{}, err
		}
		r := broker.Report{CredentialExpiresAt: credentialExpiry(a.Credential)}
		var s standing
		// The credential is known by now: the remaining questions are asked in parallel.
		err = sideBySide(
			func() (err error) { r.Identity, err = c.identity(ctx); return err },
			func() (err error) { r.Version, err = c.version(ctx); return err },
			func() (err error) { s, err = c.stand(ctx, a); return err },
			func() (err error) { r.Discovered.Regions, err = c.regions(ctx); return err },
			func() error { r.ExternalIPs = c.externalIPs(ctx, ownNamespace(a)); return nil },
		)
		if err != nil {
			return broker.Report{}, err
		}
		r.CanMint, r.MintMessage = s.missing == "", cmp.Or(s.missing, s.limits)
		r.Discovered.Cluster = &broker.Cluster{Mode: s.mode, Pool: s.pool, PoolFree: s.poolFree, User: user}
		return r, nil
	})
}

// Dead implements [broker.Driver]. It asks the API server who the holder of the
// token is, over a connection that no client certificate speaks for. Only a
// refusal in the API server's own words counts.
func (d *Driver) Dead(ctx context.Context, a broker.Access, minted broker.Credential) (bool, error) {
	if minted.Token.Empty() {
		return false, broker.Invalid("credential", "is empty, there is nothing to try")
	}
	a.Credential = broker.Credential{Kind: broker.CredentialBearerToken, Token: minted.Token}
	k := keyOf(a)
	k.doomed = true
	ctx, end, c, err := d.connectOver(ctx, k, a.Credential)
	if err != nil {
		return false, err
	}
	defer end()
	switch who, err := c.whoAmI(ctx); {
	case said(err, http.StatusUnauthorized):
		return true, nil
	case who == anonymous, errors.Is(fault(err, "", ""), broker.ErrUnauthorized):
		return false, unreachable("what answers at the endpoint did not look at the credential", "check what stands in front of the API server")
	case said(err, http.StatusForbidden): // known, and refused something else
		return false, nil
	default:
		return false, fault(err, "create", "selfsubjectreviews")
	}
}

// authenticated returns who the API server takes the credential for, as far as it says.
func (c *connection) authenticated(ctx context.Context) (string, error) {
	switch who, err := c.whoAmI(ctx); {
	case who == anonymous:
		return "", &broker.Error{
			Kind: broker.ErrUnauthorized, Detail: "the API server takes no notice of this kind of credential",
			Remedy: "register a bearer token or a client certificate",
		}
	case said(err, http.StatusForbidden):
		return "", nil
	case said(err, http.StatusNotFound):
		return "", &broker.Error{
			Kind: broker.ErrUnsupported, Detail: "the cluster does not serve SelfSubjectReview",
			Remedy: "Kubernetes 1.28 or newer is needed",
		}
	default:
		return plain(who, maxUser), fault(err, "create", "selfsubjectreviews")
	}
}

// maxUser bounds the kept part of a user name.
const maxUser = 256

// whoAmI returns the user name that the API server takes the credential for, or
// client-go's error. Anonymous callers are told apart even where they are forbidden to ask.
func (c *connection) whoAmI(ctx context.Context) (string, error) {
	var review struct {
		Status struct {
			UserInfo struct {
				Username string `json:"username"`
			} `json:"userInfo"`
		} `json:"status"`
	}
	err := read(ctx, c.authentication.client.Post().Resource("selfsubjectreviews").Body(&authenticationv1.SelfSubjectReview{}), &review)
	if err != nil {
		if s, ok := errors.AsType[*apierrors.StatusError](err); ok && said(err, http.StatusForbidden) &&
			strings.Contains(s.ErrStatus.Message, `"`+anonymous+`"`) {
			return anonymous, err
		}
		return "", err
	}
	if review.Status.UserInfo.Username == "" {
		return "", notKubernetes(0)
	}
	return review.Status.UserInfo.Username, nil
}

// same returns nil if the system that answers is the one with that identity: objects that
// it does not find are gone. An empty identity makes no request.
func (c *connection) same(ctx context.Context, identity string) error {
	if identity == "" {
		return nil
	}
	found, err := c.identity(ctx)
	if err == nil && found != identity {
		err = &broker.Error{
			Kind: broker.ErrConflict, Detail: "another cluster answers at the endpoint than the one the lease was issued on",
			Remedy: "bring the cluster back, or delete the VIM by force",
		}
	}
	return err
}

// identity returns the UID of kube-system, which lives as long as the cluster.
func (c *connection) identity(ctx context.Context) (string, error) {
	n, err := c.namespace(ctx, metav1.NamespaceSystem)
	switch {
	case said(err, http.StatusForbidden):
		return "", &broker.Error{
			Kind: broker.ErrForbidden, Detail: "the credential may not get namespace kube-system, whose UID tells this cluster from others (403)",
			Remedy: "grant it get on namespaces",
		}
	case err != nil:
		return "", fault(err, "get", "namespace kube-system")
	}
	uid := string(n.Metadata.UID)
	if uid == "" || len(uid) > 64 || printable(uid) != uid {
		return "", notKubernetes(0)
	}
	return uid, nil
}

// maxRegions bounds the namespaces that a registration remembers: their names are at
// most 63 bytes, and a report 64 KiB.
const maxRegions = 500

// regions are the cluster's namespaces, as Tacker has it; none if the credential may
// not list them.
func (c *connection) regions(ctx context.Context) ([]string, error) {
	found := []string{}
	var list struct {
		Kind  string `json:"kind"`
		Items []item `json:"items"`
	}
	err := read(remote.Expect(ctx, remote.List), c.core.client.Get().Resource("namespaces").Param("limit", strconv.Itoa(maxRegions)), &list)
	switch {
	case said(err, http.StatusForbidden):
	case err != nil:
		return nil, fault(err, "list", "namespaces")
	case list.Kind != "NamespaceList":
		return nil, notKubernetes(0)
	default:
		for _, n := range list.Items[:min(len(list.Items), maxRegions)] {
			if rbac.IsLabel(n.Metadata.Name) {
				found = append(found, n.Metadata.Name)
			}
		}
		slices.Sort(found)
	}
	return found, nil
}

// externalIPs says whether the API server takes a Service with addresses of others, by a dry run. A refusal means
// something only where the same Service is taken without them. No other answer keeps the check from its own.
func (c *connection) externalIPs(ctx context.Context, namespace string) string {
	ctx, cancel := context.WithTimeout(ctx, dryRunTime)
	defer cancel()
	try := func(ips ...string) error {
		return c.core.client.Post().Namespace(namespace).Resource("services").Param("dryRun", metav1.DryRunAll).Body(&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "vimbroker-dry-run"},
			Spec:       corev1.ServiceSpec{ExternalIPs: ips, Ports: []corev1.ServicePort{{Port: 80}}},
		}).Do(ctx).Error()
	}
	switch err := try(documentationIP); {
	case err == nil:
		return broker.ExternalIPsTaken
	case apierrors.ReasonForError(err) != metav1.StatusReasonUnknown && try() == nil:
		return broker.ExternalIPsRefused
	}
	return ""
}

// dryRunTime bounds a dry run: a webhook of the cluster may hang.
const dryRunTime = 3 * time.Second

// documentationIP is nobody's (RFC 5737).
const documentationIP = "192.0.2.1"

// version returns the API server's version; empty if the server does not tell this
// credential.
func (c *connection) version(ctx context.Context) (string, error) {
	var v struct {
		GitVersion string `json:"gitVersion"`
	}
	switch err := read(ctx, c.core.client.Get().AbsPath("/version"), &v); {
	case said(err, http.StatusForbidden):
		return "", nil
	case err != nil:
		return "", fault(err, "get", "/version")
	case v.GitVersion == "":
		return "", notKubernetes(0)
	}
	return printable(v.GitVersion), nil
}
