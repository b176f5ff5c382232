package main

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// sums is the file of the artefacts' digests.
const sums = "SHA256SUMS"

// module is a module that a program is made of.
type module struct {
	path, version, sum string
	// licence is an SPDX identifier; empty if it was not recognised.
	licence string
}

// modules are those of a platform's programs, read from the programs themselves.
func (r *release) modules(p platform) ([]module, error) {
	found := map[string]module{}
	for _, program := range p.programs() {
		info, err := buildinfo.ReadFile(r.binary(p, program))
		if err != nil {
			return nil, err
		}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			text, err := r.licence(m.Path, m.Version)
			if err != nil {
				return nil, err
			}
			found[m.Path] = module{m.Path, m.Version, m.Sum, spdx(text)}
		}
	}
	var all []module
	for _, path := range sorted(found) {
		all = append(all, found[path])
	}
	return all, nil
}

// licence is the text of a module's licence, from Go's module cache.
func (r *release) licence(path, version string) (string, error) {
	if text := r.known[path+"@"+version]; text != "" {
		return text, nil
	}
	out, err := command(r.top, "go", "mod", "download", "-json", path+"@"+version)
	if err != nil {
		return "", err
	}
	var is struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &is); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(is.Dir)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.Type().IsRegular() && (strings.HasPrefix(name, "LICEN") || strings.HasPrefix(name, "COPYING") || strings.HasPrefix(name, "NOTICE")) {
			data, err := os.ReadFile(filepath.Join(is.Dir, e.Name()))
			if err != nil {
				return "", err
			}
			text.Write(append(data, '\n'))
		}
	}
	if text.Len() == 0 {
		return "", fmt.Errorf("module %s %s has no licence: it cannot be given on", path, version)
	}
	r.known[path+"@"+version] = text.String()
	return text.String(), nil
}

// spdx recognises the licences that modules of Go have.
func spdx(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, known := range []struct{ words, id string }{
		{"Apache License", "Apache-2.0"},
		{"Mozilla Public License", "MPL-2.0"},
		{"Neither the name of", "BSD-3-Clause"},
		{"contributors may be used to endorse", "BSD-3-Clause"},
		{"Redistribution and use in source and binary forms", "BSD-2-Clause"},
		{"Permission is hereby granted, free of charge", "MIT"},
		{"Permission to use, copy, modify, and/or distribute", "ISC"},
		{"Permission to use, copy, modify, and distribute", "ISC"},
		{"This is free and unencumbered software", "Unlicense"},
	} {
		if strings.Contains(text, known.words) {
			return known.id
		}
	}
	return ""
}

// readLicences gathers the licence of every module that any program is made of.
func (r *release) readLicences() error {
	met := map[string]string{}
	for _, p := range r.platforms() {
		all, err := r.modules(p)
		if err != nil {
			return err
		}
		for _, m := range all {
			if met[m.path+" "+m.version], err = r.licence(m.path, m.version); err != nil {
				return err
			}
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "vimbroker %s holds these modules.\n", r.version)
	for _, name := range sorted(met) {
		fmt.Fprintf(&out, "\n==== %s\n\n%s", name, met[name])
	}
	r.licences = out.Bytes()
	return nil
}

// bills writes a bill of materials (CycloneDX) for each artefact.
func (r *release) bills() error {
	for _, artefact := range sorted(r.sources) {
		all, err := r.modules(r.sources[artefact])
		if err != nil {
			return err
		}
		bill := cyclonedx.NewBOM()
		bill.Metadata = &cyclonedx.Metadata{
			Timestamp: r.made.Format("2006-01-02T15:04:05Z"),
			Component: &cyclonedx.Component{
				BOMRef: "vimbroker", Type: cyclonedx.ComponentTypeApplication, Name: "vimbroker", Version: r.version,
				PackageURL: "pkg:golang/github.com/vimbroker/vimbroker@" + r.version,
			},
		}
		components, depends := []cyclonedx.Component{}, []string{}
		for _, m := range all {
			url := "pkg:golang/" + m.path + "@" + m.version
			c := cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: m.path, Version: m.version, PackageURL: url}
			if m.licence != "" {
				c.Licenses = &cyclonedx.Licenses{{License: &cyclonedx.License{ID: m.licence}}}
			}
			if digest, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.sum, "h1:")); err == nil && len(digest) == sha256.Size {
				c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(digest)}}
			}
			components, depends = append(components, c), append(depends, url)
		}
		bill.Components = &components
		bill.Dependencies = &[]cyclonedx.Dependency{{Ref: "vimbroker", Dependencies: &depends}}
		var out bytes.Buffer
		encoder := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON)
		encoder.SetPretty(true)
		if err := encoder.Encode(bill); err != nil {
			return err
		}
		if err := r.write(artefact+".cdx.json", out.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// papers writes the digests, where the artefacts come from (in-toto), and the signatures of both.
func (r *release) papers(keyFile string) error {
	var key ed25519.PrivateKey
	if keyFile != "" {
		var err error
		if key, err = readKey(keyFile); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var list strings.Builder
	var subjects []map[string]any
	for _, e := range entries {
		if e.IsDir() {
			continue // the manual
		}
		data, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		digest := fmt.Sprintf("%x", sha256.Sum256(data))
		fmt.Fprintf(&list, "%s  %s\n", digest, e.Name())
		if _, is := r.sources[e.Name()]; is {
			subjects = append(subjects, map[string]any{"name": e.Name(), "digest": map[string]string{"sha256": digest}})
		}
	}
	statement, err := json.Marshal(r.provenance(subjects))
	if err != nil {
		return err
	}
	name := "vimbroker-" + r.version + ".intoto.jsonl"
	fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(append(slices.Clone(statement), '\n')), name)
	if key == nil {
		return cmp.Or(r.write(name, append(statement, '\n')), r.write(sums, []byte(list.String())))
	}
	signed, err := envelope(key, statement)
	if err != nil {
		return err
	}
	return cmp.Or(r.write(name, append(statement, '\n')), r.write(sums, []byte(list.String())),
		r.write("vimbroker-"+r.version+".intoto.dsse.json", signed), r.write(sums+".sig", ed25519.Sign(key, []byte(list.String()))))
}

// provenance is a statement of in-toto with the predicate of SLSA version 1.
func (r *release) provenance(subjects []map[string]any) map[string]any {
	return map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":          "https://github.com/vimbroker/vimbroker/blob/main/deploy/dist",
				"externalParameters": map[string]string{"target": "make dist", "version": r.version},
				"resolvedDependencies": []map[string]any{{
					"uri": "git+https://github.com/vimbroker/vimbroker", "digest": map[string]string{"gitCommit": r.commit},
				}},
			},
			"runDetails": map[string]any{
				"builder": map[string]any{
					"id":      "https://github.com/vimbroker/vimbroker/blob/main/Makefile",
					"version": map[string]string{"go": strings.TrimPrefix(runtime.Version(), "go")},
				},
			},
		},
	}
}

// envelope signs a statement (DSSE).
func envelope(key ed25519.PrivateKey, statement []byte) ([]byte, error) {
	const of = "application/vnd.in-toto+json"
	text := fmt.Sprintf("DSSEv1 %d %s %d %s", len(of), of, len(statement), statement)
	return json.Marshal(map[string]any{
		"payloadType": of, "payload": base64.StdEncoding.EncodeToString(statement),
		"signatures": []map[string]string{{"sig": base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(text)))}},
	})
}

func readKey(name string) (ed25519.PrivateKey, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the signing key is no PEM; make one with openssl genpkey -algorithm ed25519")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if signer, is := key.(ed25519.PrivateKey); is && err == nil {
		return signer, nil
	}
	return nil, errors.New("the signing key is no Ed25519 key in PKCS #8; make one with openssl genpkey -algorithm ed25519")
}
