package server

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/drivers/outlet"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// outletConfig is a place outside that lines go to. Kind says which of the other keys count.
type outletConfig struct {
	Name, Kind string
	// of a file
	Path string
	// of a syslog receiver; CAFile also of a webhook
	Address, CAFile, ServerName, CertFile, KeyFile string
	Plain                                          bool
	// of a webhook
	URL, TokenFile, HMACKeyFile string
}

// rotateBytes is the size at which a file is rotated.
const rotateBytes = 100 << 20

// fields is an outlet's vocabulary.
func (o *outletConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"name":        d.Text(&o.Name),
		"kind":        d.Text(&o.Kind),
		"path":        d.Text(&o.Path),
		"address":     d.Text(&o.Address),
		"plain":       d.Flag(&o.Plain),
		"caFile":      d.Text(&o.CAFile),
		"serverName":  d.Text(&o.ServerName),
		"certFile":    d.Text(&o.CertFile),
		"keyFile":     d.Text(&o.KeyFile),
		"url":         d.Text(&o.URL),
		"tokenFile":   d.Text(&o.TokenFile),
		"hmacKeyFile": d.Text(&o.HMACKeyFile),
	}
}

// keysOfKind are the keys that apply to a kind, in addition to name and kind.
var keysOfKind = map[string][]string{
	"file":    {"path"},
	"syslog":  {"address", "plain", "caFile", "serverName", "certFile", "keyFile"},
	"webhook": {"url", "caFile", "tokenFile", "hmacKeyFile"},
}

var outletName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`) })

// validate notes every fault that can be told without the files that the outlet names.
func (o *outletConfig) validate(d *strictyaml.Document, at string) {
	if !outletName().MatchString(o.Name) || len(o.Name) > 40 {
		d.Fault(nil, at+".name", "must be a name like site-siem: small letters, digits and single hyphens, at most 40")
	}
	keys, known := keysOfKind[o.Kind]
	if !known {
		d.Fault(nil, at+".kind", "must be file, syslog or webhook")
		return
	}
	for key, given := range map[string]bool{
		"path": o.Path != "", "address": o.Address != "", "plain": o.Plain,
		"caFile": o.CAFile != "", "serverName": o.ServerName != "", "certFile": o.CertFile != "", "keyFile": o.KeyFile != "",
		"url": o.URL != "", "tokenFile": o.TokenFile != "", "hmacKeyFile": o.HMACKeyFile != "",
	} {
		if given && !slices.Contains(keys, key) {
			d.Fault(nil, at+"."+key, "does not go with kind %s, whose keys are %s", o.Kind, strings.Join(keys, ", "))
		}
	}
	var err error
	switch o.Kind {
	case "file":
		err = o.file().Validate()
	case "syslog":
		err = o.syslog(nil, "").Validate()
	case "webhook":
		err = o.webhook(nil).Validate()
	}
	for _, fault := range parts(err) {
		d.Fault(nil, at, "%v", fault)
	}
}

// load looks at the files that the outlet names, and notes every fault.
func (o *outletConfig) load(d *strictyaml.Document, at string) {
	files.Authorities(d, at+".caFile", o.CAFile)
	files.KeyPair(d, at, o.CertFile, o.KeyFile)
	if o.TokenFile != "" {
		files.LoginFile(d, at+".tokenFile", o.TokenFile)
	}
	if o.HMACKeyFile != "" {
		if text := files.LoginFile(d, at+".hmacKeyFile", o.HMACKeyFile); text != "" {
			if _, err := outlet.HMACKey(secret.NewText(text)); err != nil {
				d.Fault(nil, at+".hmacKeyFile", "%s %v", o.HMACKeyFile, err)
			}
		}
	}
	if o.Kind == "file" && filepath.IsAbs(o.Path) {
		if info, err := os.Stat(filepath.Dir(o.Path)); err != nil || !info.IsDir() {
			d.Fault(nil, at+".path", "%s is no directory", filepath.Dir(o.Path))
		}
	}
}

func (o *outletConfig) file() outlet.FileOptions {
	return outlet.FileOptions{Path: o.Path, RotateBytes: rotateBytes}
}

func (o *outletConfig) syslog(rules *egress.Rules, msgID string) outlet.SyslogOptions {
	return outlet.SyslogOptions{
		Address: o.Address, Plain: o.Plain, CAFile: o.CAFile, ServerName: o.ServerName, CertFile: o.CertFile, KeyFile: o.KeyFile,
		MsgID: msgID, Rules: rules,
	}
}

func (o *outletConfig) webhook(rules *egress.Rules) outlet.WebhookOptions {
	return outlet.WebhookOptions{URL: o.URL, CAFile: o.CAFile, TokenFile: o.TokenFile, HMACKeyFile: o.HMACKeyFile, Rules: rules}
}

// open makes the outlet; it connects nowhere. msgID says what syslog messages are.
func (o *outletConfig) open(rules *egress.Rules, msgID string) (delivery.Outlet, error) {
	switch o.Kind {
	case "file":
		return outlet.NewFile(o.file()), nil
	case "syslog":
		return outlet.NewSyslog(o.syslog(rules, msgID)), nil
	}
	w, err := outlet.NewWebhook(o.webhook(rules))
	if err != nil {
		return nil, fmt.Errorf("opening the webhook %s: %w", o.Name, err)
	}
	return w, nil
}
