package onboard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vimbroker/vimbroker/broker"
)

// Management is a management cluster: how its clusters become VIMs, and how it stands.
type Management struct {
	// VIM is the id of the VIM that the management cluster is.
	VIM string
	Settings

	EnabledBy            string
	CreatedAt, UpdatedAt time.Time

	// WatchedAt is when all of its namespaces were last listed; Trouble says what keeps it
	// from being watched, empty if nothing does.
	WatchedAt time.Time
	Trouble   string
	// HeldAt is when too many of its clusters were gone at the same time: none is let go
	// of until a person releases them. Until ReleasedUntil all missing clusters are let go
	// of.
	HeldAt, ReleasedUntil time.Time

	Revision int64
}

// Settings say how the clusters of a management cluster become VIMs.
type Settings struct {
	// Namespaces are those whose clusters are taken, 1 to 64 by name; or [AllNamespaces] alone.
	Namespaces []string
	// NamespaceSelector are labels that a namespace must have; then Namespaces are all.
	NamespaceSelector map[string]string
	// Selector are labels that a cluster must have; empty takes all of the namespaces.
	Selector map[string]string
	// Projects says by namespace whose VIMs its clusters become. The entry without a
	// namespace is for all others.
	Projects map[string]string
	// SecretName is the name of a cluster's secret, with {cluster} for the cluster's name;
	// SecretKey names the entry of it that holds the kubeconfig.
	SecretName, SecretKey string
	// NameTemplate makes the VIM's name of {namespace} and {cluster}.
	NameTemplate string
	// CopyLabels are keys of labels of the Cluster that its VIM has too, as
	// cluster/KEY; a "/" in the key becomes a dot.
	CopyLabels []string
	// ControlPlanes are the resources (PLURAL.GROUP) of control planes, which are read to
	// know whose the secret is; none means [KnownControlPlanes].
	ControlPlanes []string
	// Account is the profile of the account of the broker's own that takes the place of a
	// cluster's credential: AccountEngine, AccountLeases, or AccountNone, which keeps the
	// credential. Empty is AccountNone too: it was enabled before there were accounts.
	Account string
	// MaxGone and MaxGoneShare bound how many VIMs are let go of within ten minutes: so many, or that share in per cent if
	// it is more.
	MaxGone, MaxGoneShare int
	// Annotation says what the annotation vimbroker.io/onboard of a Cluster decides: AnnotationOut, with which "false" leaves
	// it out, or AnnotationIn, without which "true" leaves it out.
	Annotation string
}

// KnownControlPlanes are those of the providers of the field.
var KnownControlPlanes = ofGroups(map[string]string{
	"controlplane":   "aro awsmanaged ck8s k0s k0smotron kamaji kthrees kubeadm microk8s nested rke2 rosa talos",
	"infrastructure": "azureasomanaged azuremanaged gcpmanaged ocimanaged",
})

// ofGroups are the resources of Cluster API's groups, by the beginnings of their names.
func ofGroups(kinds map[string]string) (all []string) {
	for group, words := range kinds {
		for _, kind := range strings.Fields(words) {
			all = append(all, kind+"controlplanes."+group+"."+capiGroup)
		}
	}
	slices.Sort(all)
	return all
}

// defaults are those of Cluster API's contract. Its account lets CNFs be instantiated on the clusters.
var defaults = Settings{
	SecretName: "{cluster}-kubeconfig", SecretKey: "value", NameTemplate: "{namespace}.{cluster}", Account: AccountEngine,
	MaxGone: 3, MaxGoneShare: 20, Annotation: AnnotationOut,
}

// The accounts that a cluster's VIM can have.
const (
	AccountEngine = "engine" // leases, and life-cycle operations
	AccountLeases = "leases" // leases of roles that the cluster has
	AccountNone   = "none"
)

// What the annotation of a Cluster decides.
const (
	AnnotationOut = "out"
	AnnotationIn  = "in"
)

const (
	maxNamespaces = 64
	maxSettings   = 64
	maxProjects   = 1000 // of namespaces that are not taken by name
)

var (
	dnsLabel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`) })
	dnsName  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
	})
	labelKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	})
	secretKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`) })
)

// IsName reports whether objects of Kubernetes can have a name.
func IsName(s string) bool { return len(s) <= 253 && dnsName().MatchString(s) }

// Complete fills in defaults, and refuses what cannot be followed.
func (m *Settings) Complete() error {
	m.fill(defaults)
	if m.MaxGone < 1 || m.MaxGone > maxClusters {
		return broker.Invalid("maxGone", "must be 1 to %d", maxClusters)
	}
	if m.MaxGoneShare < 1 || m.MaxGoneShare > 100 {
		return broker.Invalid("maxGoneShare", "must be 1 to 100 per cent")
	}
	if err := m.completeNamespaces(); err != nil {
		return err
	}
	if !slices.Contains([]string{AccountEngine, AccountLeases, AccountNone}, m.Account) {
		return broker.Invalid("account", "must be %s, %s or %s", AccountEngine, AccountLeases, AccountNone)
	}
	if m.Annotation != AnnotationOut && m.Annotation != AnnotationIn {
		return broker.Invalid("annotation", "must be %s or %s", AnnotationOut, AnnotationIn)
	}
	if len(m.Selector) > maxSettings || len(m.CopyLabels) > maxSettings || len(m.ControlPlanes) > maxSettings {
		return broker.Invalid("", "more than %d entries in one setting", maxSettings)
	}
	return m.completeNames()
}

func (m *Settings) completeNames() error {
	for key := range m.Selector {
		if !labelKey().MatchString(key) {
			return broker.Invalid("selector", "holds a key that is not a Kubernetes label key")
		}
	}
	for _, key := range m.CopyLabels {
		if !labelKey().MatchString(key) {
			return broker.Invalid("copyLabels", "hold a key that is not a Kubernetes label key")
		}
	}
	for _, c := range m.ControlPlanes {
		plural, group, _ := strings.Cut(c, ".")
		if !dnsLabel().MatchString(plural) || !dnsName().MatchString(group) || len(c) > 253 {
			return broker.Invalid("controlPlanes", "hold one that is not PLURAL.GROUP, like %s", KnownControlPlanes[0])
		}
	}
	if strings.Count(m.SecretName, "{cluster}") != 1 || !dnsName().MatchString(strings.Replace(m.SecretName, "{cluster}", "x", 1)) {
		return broker.Invalid("secretName", "must be a name with {cluster} in it once, like %s", defaults.SecretName)
	}
	if !secretKey().MatchString(m.SecretKey) {
		return broker.Invalid("secretKey", "is not the key of an entry of a Secret")
	}
	rest := strings.NewReplacer("{namespace}", "", "{cluster}", "").Replace(m.NameTemplate)
	if !strings.Contains(m.NameTemplate, "{cluster}") || strings.ContainsAny(rest, "{}/") || len(m.NameTemplate) > 64 {
		return broker.Invalid("nameTemplate", "must be at most 64 characters with {cluster} in them, and may hold {namespace}")
	}
	return nil
}

// fill gives each setting that is not given (nil, empty text, zero) the value of another.
func (m *Settings) fill(other Settings) {
	to, from := reflect.ValueOf(m).Elem(), reflect.ValueOf(other)
	for i := range to.NumField() {
		if to.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
}

// keep takes over the settings that are not given: which namespaces are taken as one. Projects of namespaces that are given
// no more go with them.
func (m *Settings) keep(old Settings) {
	if m.Namespaces != nil || m.NamespaceSelector != nil {
		old.Namespaces, old.NamespaceSelector = nil, nil
	}
	if old.Projects = maps.Clone(old.Projects); m.Projects != nil {
		old.Projects = nil
	}
	m.fill(old)
	maps.DeleteFunc(old.Projects, func(n, _ string) bool { return n != "" && !m.names(n) })
}

// same reports whether both say the same of what becomes of clusters. Both are complete.
func (m Settings) same(other Settings) bool {
	text := func(s Settings) string {
		said, _ := json.Marshal(s, json.Deterministic(true)) // plain data always encodes; no list is an empty one
		return string(said)
	}
	return text(m) == text(other)
}

func (m *Settings) project(namespace string) string {
	if p, ok := m.Projects[namespace]; ok {
		return p
	}
	return m.Projects[""]
}

func (m *Settings) targets() []string {
	if m.all() {
		return slices.Compact(slices.Sorted(maps.Values(m.Projects)))
	}
	var all []string
	for _, n := range m.Namespaces {
		all = append(all, m.project(n))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// account is the account that replaces a cluster's credential; nil if the credential is
// kept. Its name never changes: an attempt that died and the next one make the same
// account.
func (m *Management) account(clusterUID string) *broker.Account {
	if m.Account == "" || m.Account == AccountNone {
		return nil
	}
	sum := sha256.Sum256([]byte(m.VIM + "/" + clusterUID))
	return &broker.Account{Name: hex.EncodeToString(sum[:10]), Profile: m.Account}
}

func (m *Settings) secretName(cluster string) string {
	return strings.Replace(m.SecretName, "{cluster}", cluster, 1)
}

func (m *Settings) vimName(namespace, cluster string) string {
	return strings.NewReplacer("{namespace}", namespace, "{cluster}", cluster).Replace(m.NameTemplate)
}

// selects reports whether a cluster is taken: by its labels, and by its annotation.
func (m *Settings) selects(s Seen) bool {
	if s.Onboard == "false" || m.Annotation == AnnotationIn && s.Onboard != "true" {
		return false
	}
	return hasAll(s.Labels, m.Selector)
}

func (m *Settings) counts(label string) bool {
	_, selects := m.Selector[label]
	return selects || slices.Contains(m.CopyLabels, label)
}

// copiedPrefix begins the keys of labels that were copied from a Cluster.
const copiedPrefix = "cluster/"

// maxLabelText is the longest value of a label, and the longest name in its key.
const maxLabelText = 63

// labels are those of a cluster's VIM. A tenant's labels have a prefix of their own.
func (m *Management) labels(s Seen) map[string]string {
	l := m.copied(s)
	l[broker.LabelCluster], l[broker.LabelManagement], l[broker.LabelClusterNamespace] = s.UID, m.VIM, s.Namespace
	if len(s.Name) <= maxLabelText {
		l[broker.LabelClusterName] = s.Name
	}
	return l
}

func (m *Settings) copied(s Seen) map[string]string {
	l := map[string]string{}
	for _, key := range m.CopyLabels {
		name := strings.ReplaceAll(key, "/", ".")
		if value, ok := s.Labels[key]; ok && len(name) <= maxLabelText {
			l[copiedPrefix+name] = value
		}
	}
	return l
}

// rules are the rights of the broker's own lease on the management cluster, in its
// namespaces, or in all, which reads these control planes. They are also the rights that its credential needs.
func (m *Settings) rules(planes []string) []broker.Rule {
	see := []string{"get", "list", "watch"}
	rules := []broker.Rule{
		{APIGroups: []string{"cluster.x-k8s.io"}, Resources: []string{"clusters"}, Verbs: see},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: see},
	}
	rules = append(rules, planeRules(planes)...)
	if len(m.NamespaceSelector) > 0 {
		rules = append(rules, broker.Rule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"list"}})
	}
	return rules
}

// planeRules let a lease read control planes.
func planeRules(planes []string) (rules []broker.Rule) {
	for _, c := range planes {
		plural, group, _ := strings.Cut(c, ".")
		rules = append(rules, broker.Rule{APIGroups: []string{group}, Resources: []string{plural}, Verbs: []string{"get"}})
	}
	return rules
}

func (m *Settings) planes() []string {
	if len(m.ControlPlanes) == 0 {
		return KnownControlPlanes
	}
	return m.ControlPlanes
}

// controlPlane returns the resource of a control plane whose secrets count.
func (m *Settings) controlPlane(r ObjectReference) (plural string, ok bool) {
	plural = strings.ToLower(r.Kind) + "s"
	return plural, slices.Contains(m.planes(), plural+"."+r.Group)
}

func (r ObjectReference) String() string { return fmt.Sprintf("%s.%s %s", r.Kind, r.Group, r.Name) }
