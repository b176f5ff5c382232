package policy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// site is a set of policies with one file of the site's.
func withSite(t *testing.T, text string) *policy.Policies {
	t.Helper()
	p, err := policy.Load(map[string][]byte{"site.cedar": []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// leasing is a question of a member about a lease.
func leasing(role string, ttl time.Duration, labels map[string]string) policy.Request {
	return policy.Request{
		Principal: policy.Principal{Name: "cora", Project: "acme", Roles: []string{"member", "contractor"}},
		Action:    policy.LeaseIssue,
		Resource:  policy.Resource{Kind: policy.KindVIM, ID: "v", Project: "acme", VIMName: "edge", Labels: labels},
		Wish:      policy.Wish{Role: role, TTL: ttl, Grade: "bounded"},
	}
}

func TestWhyNamesTheConditionThatDecided(t *testing.T) {
	t.Parallel()
	p := withSite(t, `@id("contractors-view-staging")
forbid (principal, action == Action::"lease:issue", resource is VIM)
when { principal.roles.contains("contractor") }
unless {
  context.role == "view" && context.ttlSeconds <= 7200 && resource.hasTag("stage") && resource.getTag("stage") == "staging"
};`)
	staging := map[string]string{"stage": "staging"}
	for name, c := range map[string]struct {
		q    policy.Request
		says string
		not  []string
	}{
		"role":  {leasing("edit", time.Hour, staging), `context.role == "view" does not hold (context.role is "edit")`, []string{"7200", "stage"}},
		"ttl":   {leasing("view", 3*time.Hour, staging), `context.ttlSeconds <= 7200 does not hold (context.ttlSeconds is 10800)`, []string{`"view"`}},
		"label": {leasing("view", time.Hour, map[string]string{"stage": "prod"}), `resource.getTag("stage") == "staging" does not hold (resource.getTag("stage") is "prod")`, []string{"7200"}},
		"none":  {leasing("view", time.Hour, nil), `resource.hasTag("stage") does not hold`, []string{"7200"}},
	} {
		text := strings.Join(p.Why(c.q), "\n")
		if !strings.Contains(text, "site.contractors-view-staging: "+c.says) || strings.Contains(text, "()") {
			t.Errorf("%s: Why is\n%s\nwithout %q", name, text, c.says)
		}
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "site.contractors-view-staging: ") {
				t.Errorf("%s: Why names another policy than the one that forbids: %s", name, line)
			}
		}
		for _, not := range c.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: Why is\n%s\nwith %q", name, text, not)
			}
		}
	}
	if got := p.Why(leasing("view", time.Hour, staging)); got != nil {
		t.Errorf("Why of what is allowed is %q", got)
	}
	nobody := leasing("view", time.Hour, staging)
	nobody.Principal.Roles = []string{"guest"}
	if got := p.Why(nobody); !slices.ContainsFunc(got, func(s string) bool {
		return strings.HasPrefix(s, `default.members-lease-vims: principal.roles.contains("member") does not hold`)
	}) {
		t.Errorf("Why of what no policy permits is %q", got)
	}
	if text := strings.Join(p.Why(nobody), "\n"); strings.Contains(text, "contractors-view-staging") {
		t.Errorf("Why of what no policy permits names one that forbids others:\n%s", text)
	}
	late := withSite(t, `@id("late") permit (principal, action == Action::"lease:issue", resource)
when { principal.name == "nobody" && context.ttlSeconds * 9223372036854775807 > 0 && context.now.hour > 24 };`)
	text := strings.Join(late.Why(nobody), "\n")
	if !strings.Contains(text, `site.late: principal.name == "nobody" does not hold (principal.name is "cora")`) || strings.Contains(text, "9223372036854775807") ||
		!strings.Contains(text, "(context.now.hour is ") || strings.Contains(text, "context.now is") {
		t.Errorf("Why of a condition of three, of which one has no value, is\n%s", text)
	}
	two := withSite(t, `@id("two") permit (principal, action == Action::"lease:issue", resource)
when { principal.name == "cora" } unless { principal.project == "acme" };`)
	if got := strings.Join(two.Why(nobody), "\n"); !strings.Contains(got, `site.two: principal.project == "acme" holds`) || strings.Contains(got, "principal.name") {
		t.Errorf("Why of a permit whose exception holds is\n%s", got)
	}
	endless := withSite(t, `@id("endless")
permit (principal, action == Action::"lease:issue", resource)
when { context.ttlSeconds * 9223372036854775807 > 0 };`)
	if got := strings.Join(endless.Why(nobody), "\n"); strings.Contains(got, "endless") || !strings.Contains(got, "default.members-lease-vims") {
		t.Errorf("Why names a condition that has no value:\n%s", got)
	}
}

func TestPoliciesSeeTheTimeAndTheAgeOfALease(t *testing.T) {
	t.Parallel()
	p := withSite(t, `@id("weekdays")
forbid (principal, action in [Action::"lease:issue", Action::"lease:renew"], resource)
unless { context.now.weekday <= 5 && context.now.hour >= 8 && context.now.hour < 18 && context.now.zone == "+01:00" };
@id("two-hours-in-all")
forbid (principal, action in [Action::"lease:issue", Action::"lease:renew"], resource)
when { context.leaseAge + context.ttlSeconds > 7200 };
@id("contractors-say-for-whom")
forbid (principal, action == Action::"lease:issue", resource)
when { principal.roles.contains("contractor") && context.for == "" };`)
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	const tuesday = "2026-11-24T10:00:00+01:00"
	for name, c := range map[string]struct {
		at   string
		age  time.Duration
		for_ string
		want bool
	}{
		"a weekday":          {tuesday, 0, "dave", true},
		"a Sunday":           {"2026-11-29T10:00:00+01:00", 0, "dave", false},
		"Monday's first":     {"2026-11-23T08:00:00+01:00", 0, "dave", true},
		"before work":        {"2026-11-24T07:59:59+01:00", 0, "dave", false},
		"after work":         {"2026-11-24T18:00:00+01:00", 0, "dave", false},
		"another zone":       {"2026-11-24T10:00:00+02:00", 0, "dave", false},
		"an hour old":        {tuesday, time.Hour, "dave", true},
		"older than an hour": {tuesday, time.Hour + time.Millisecond, "dave", false},
		"for nobody":         {tuesday, 0, "", false},
	} {
		q := leasing("view", time.Hour, nil)
		q.At, q.Wish.For = at(c.at), c.for_
		if c.age > 0 {
			q.Wish.Issued = q.At.Add(-c.age)
		}
		if d := p.Decide(q); d.Allowed != c.want || len(d.Errors) > 0 {
			t.Errorf("%s: %+v, want allowed %v", name, d, c.want)
		}
	}
	p.Now = func() time.Time { return at("2026-11-29T10:00:00+01:00") }
	q := leasing("view", time.Hour, nil)
	q.Wish.For = "dave"
	if p.Decide(q).Allowed {
		t.Error("a question without a time is not asked at the time of now")
	}
	p.Now = func() time.Time { return at(tuesday) }
	if d := p.Decide(q); !d.Allowed {
		t.Errorf("a question without a time, asked on a weekday: %+v", d)
	}
}
