package server

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// States of a finding, from the best to the worst.
const (
	findingOK      = "ok"
	findingWarning = "warning"
	findingFault   = "fault"
)

// finding is what doctor says of one part.
type finding struct {
	Part   string `json:"part"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	// Remedy is a command or a step; empty where nothing is wrong.
	Remedy string `json:"remedy,omitempty"`
}

// soon is how long before its end a certificate, a token or a credential is a warning.
const soon = 30 * 24 * time.Hour

// unsignedFor is how old an entry may be that no checkpoint covers. The server signs every minute, if there is anything new.
const unsignedFor = 15 * time.Minute

// doctor gathers findings.
type doctor struct {
	now      time.Time
	findings []finding
}

func (d *doctor) say(part, state, detail, remedy string) {
	d.findings = append(d.findings, finding{part, state, detail, remedy})
}

func (p *program) doctorCommand() *cobra.Command {
	var configFile, backups string
	within := 26 * time.Hour
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong, and say how to mend it",
		Long: `Look at a server, and at the configuration if it is named: faults of the file
and of the files that it names, their modes, the server's certificate, the parts
of the server that cannot be used, clocks, callers' tokens that end, the signing
of the audit log, its sinks and anchors, VIMs that cannot be reached or whose
credentials end. It sees what the caller may see. With --backups it looks at the
age of the newest backup, too. The exit code is 1 if there is a fault, and 0
with warnings.`,
		Example: `  vimbroker doctor
  vimbroker doctor --config /etc/vimbroker/vimbroker.yaml -o json`,
		Args: console.Names(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			d := &doctor{now: p.Now()}
			if configFile != "" {
				d.configuration(configFile, p.Env)
			}
			if backups != "" {
				d.backup(backups, within)
			}
			err := p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error {
				d.server(c.Context(), registry)
				return nil
			})(c, args)
			if err != nil {
				d.say("server", findingFault, err.Error(), "")
			}
			return p.diagnose(d.findings)
		},
	}
	c.Flags().StringVar(&configFile, "config", "", "also look at this configuration, and at the files that it names")
	c.Flags().StringVar(&backups, "backups", "", "directory where backups of the database lie, or the file of one")
	console.DurationFlag(c, &within, "backup-within", "how old the newest backup may be")
	p.OutputFlag(c)
	return c
}

// backup looks at the age of the newest file: what it holds is tried by restoring it, as the runbook says.
func (d *doctor) backup(path string, within time.Duration) {
	var newest time.Time
	err := filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Size() > 0 && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		return err
	})
	remedy := "make one: docs/runbook.md"
	switch age := d.now.Sub(newest); {
	case err != nil:
		d.say("backup", findingFault, err.Error(), remedy)
	case newest.IsZero():
		d.say("backup", findingFault, "there is none in "+path, remedy)
	case age > within:
		d.say("backup", findingFault, "the newest is of "+newest.UTC().Format(time.RFC3339)+", "+console.Brief(age)+" old", remedy)
	default:
		d.say("backup", findingOK, "the newest is "+console.Brief(age)+" old", "")
	}
}

// diagnose prints the findings, the worst first.
func (p *program) diagnose(all []finding) error {
	order := []string{findingFault, findingWarning, findingOK}
	slices.SortStableFunc(all, func(a, b finding) int {
		return cmp.Compare(slices.Index(order, a.State), slices.Index(order, b.State))
	})
	err := p.Print(map[string]any{"items": all}, func(w io.Writer) {
		p.Header(w, []string{"STATE", "PART", "DETAIL"})
		for _, f := range all {
			text := f.Detail
			if f.Remedy != "" {
				text += " (" + f.Remedy + ")"
			}
			p.Columns(w, []string{f.State, f.Part, text})
		}
	})
	if err == nil && len(all) > 0 && all[0].State == findingFault {
		return console.ExitWith(console.ExitFailed, nil)
	}
	return err
}

// configuration looks at a file and the files that it names.
func (d *doctor) configuration(name string, env console.Environment) {
	c, err := loadConfig(name, env, func(*config, *strictyaml.Document) {})
	if err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			d.say("configuration", findingFault, line, "")
		}
		return
	}
	d.say("configuration", findingOK, name+" has no fault", "")
	if c.certificate == nil {
		return
	}
	remedy := "put another into " + c.TLS.CertFile
	if _, err := os.Stat(filepath.Join(filepath.Dir(c.TLS.CertFile), "ca.key")); err == nil {
		remedy = "vimbroker init --renew"
		if dir := filepath.Dir(name); dir != configDir {
			remedy += " --dir " + shellWord(dir)
		}
	}
	d.end("certificate", "the server's certificate", c.certificate.ends(), remedy)
}

// end says when something ends.
func (d *doctor) end(part, what string, at time.Time, remedy string) {
	day := at.UTC().Format(time.DateOnly)
	switch left := at.Sub(d.now); {
	case left <= 0:
		d.say(part, findingFault, what+" has ended on "+day, remedy)
	case left < soon:
		d.say(part, findingWarning, what+" ends on "+day, remedy)
	default:
		d.say(part, findingOK, what+" is good until "+day, "")
	}
}

// server looks at a server that runs.
func (d *doctor) server(ctx context.Context, registry *client.Client) {
	health, err := registry.Health(ctx)
	if err != nil {
		d.say("server", findingFault, console.Advise(err), "")
		return
	}
	d.say("server", findingOK, "ready, version "+health.Version, "")
	for _, part := range health.Parts {
		if part.Usable {
			d.say(part.Name, findingOK, "can be used", "")
		} else {
			d.say(part.Name, findingFault, part.Detail, "see docs/runbook.md")
		}
	}
	for _, look := range []struct {
		part string
		at   func(context.Context, *client.Client) error
	}{{"tokens", d.tokens}, {"audit log", d.auditLog}, {"sinks", d.copies}, {"VIMs", d.vims}} {
		switch err := look.at(ctx, registry); {
		case client.Status(err) == 403 || client.Status(err) == 404:
			d.say(look.part, findingWarning, "you may not see them", "ask an administrator")
		case err != nil:
			d.say(look.part, findingFault, err.Error(), "")
		}
	}
}

// tokens looks at the ends of callers' static tokens.
func (d *doctor) tokens(ctx context.Context, registry *client.Client) error {
	for t, err := range registry.AllTokens(ctx, 200) {
		if err != nil {
			return err
		}
		if !t.ExpiresAt.IsZero() && !t.Previous && t.ExpiresAt.Sub(d.now) < soon {
			d.end("tokens", "the token "+t.ID+" of "+t.Name, t.ExpiresAt, "give "+t.Name+" another: vimbroker token new")
		}
	}
	return nil
}

// newestEntries is how many entries are looked at for one that is not signed.
const newestEntries = 50

// auditLog looks for entries that no checkpoint covers, and compares the clocks: the newest entry is that of being asked.
func (d *doctor) auditLog(ctx context.Context, registry *client.Client) error {
	last, err := registry.AuditCheckpoint(ctx)
	if err != nil {
		return err
	}
	newest, err := registry.Audit(ctx, client.AuditQuery{PageSize: newestEntries})
	if err != nil {
		return err
	}
	late := ""
	for n, e := range newest.Items {
		if e.Seq > last.Size && (d.now.Sub(e.Time) > unsignedFor || n == newestEntries-1 && d.now.Sub(last.Time) > unsignedFor) {
			late = fmt.Sprintf("entry %d of %s is not signed yet", e.Seq, e.Time.UTC().Format(time.RFC3339))
		}
	}
	if late != "" {
		d.say("audit log", findingFault, late, "see in the server's log why")
	} else {
		d.say("audit log", findingOK, console.Count(last.Size, "entry is", "entries are")+" signed", "")
	}
	if len(newest.Items) > 0 && newest.Items[0].Time.Sub(d.now) > time.Minute {
		d.say("clock", findingWarning, fmt.Sprintf("this machine is %s behind the server", newest.Items[0].Time.Sub(d.now).Round(time.Second)),
			"let both follow one time server")
	}
	return nil
}

// copies looks at the sinks and the anchors of the audit log.
func (d *doctor) copies(ctx context.Context, registry *client.Client) error {
	sinks, err := registry.AuditSinks(ctx)
	if err != nil {
		return err
	}
	for _, s := range sinks.Items {
		switch {
		case s.Late:
			d.say("sink "+s.Name, findingFault, "it is "+s.Behind+" behind; "+s.Fault,
				"see that it takes entries; until then nothing is issued if it is required")
		case s.Fault != "":
			d.say("sink "+s.Name, findingWarning, s.Fault, "")
		default:
			d.say("sink "+s.Name, findingOK, "it has every entry up to "+fmt.Sprint(s.Delivered), "")
		}
	}
	anchors, err := registry.AuditAnchors(ctx)
	if err != nil {
		return err
	}
	for _, a := range anchors.Items {
		if a.Fault != "" {
			d.say("anchor "+a.Name, findingWarning, "it lacks "+console.Count(a.Behind, "entry", "entries")+": "+a.Fault, "have it take checkpoints")
		} else {
			d.say("anchor "+a.Name, findingOK, "it covers "+console.Count(a.Size, "entry", "entries"), "")
		}
	}
	return nil
}

// vims looks at how VIMs are reached, and at the ends of their credentials.
func (d *doctor) vims(ctx context.Context, registry *client.Client) error {
	well := 0
	for v, err := range registry.AllVIMs(ctx, client.VIMQuery{PageSize: 200}) {
		if err != nil {
			return err
		}
		part := "VIM " + v.Name
		before := len(d.findings)
		if v.Status != "reachable" && v.Status != "registering" && v.Status != "unchecked" {
			d.say(part, findingFault, "it is "+v.Status, "vimbroker vim check "+v.Name)
		}
		for _, w := range v.Warnings {
			switch w {
			case v1.WarnExpired:
				d.say(part, findingFault, "its credential has ended", "vimbroker vim rotate "+v.Name)
			case v1.WarnExpiring:
				d.say(part, findingWarning, "its credential ends within 30 days", "vimbroker vim rotate "+v.Name)
			case v1.WarnCAExpired, v1.WarnCAExpiring:
				d.say(part, findingWarning, "the authority of its certificate ends: "+w, "vimbroker vim update "+v.Name+" --ca-cert-file FILE")
			}
		}
		if len(d.findings) == before {
			well++
		}
	}
	d.say("VIMs", findingOK, console.Count(well, "of them is well", "of them are well"), "")
	return nil
}
