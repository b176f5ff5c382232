package vnfpkg

import (
	"cmp"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// MetaFile is the file that describes a package's content (SOL004 clause 4.1.2.3).
const MetaFile = "TOSCA-Metadata/TOSCA.meta"

// algorithms are the hashes that SOL004 names, and how people spell them.
var algorithms = map[string]func() hash.Hash{
	"SHA-224": sha256.New224, "SHA-256": sha256.New, "SHA-384": sha512.New384, "SHA-512": sha512.New,
}

// readMetadata finds the entry definitions and the artifacts: in TOSCA.meta and the
// manifest it names (SOL004 clause 4.1.2, option 1), or, without TOSCA.meta, from the
// one YAML file at the root and the manifest beside it (option 2).
func (c *CSAR) readMetadata() error {
	manifest := ""
	declared := map[string]Artifact{}
	if c.Has(MetaFile) {
		blocks, err := c.blocks(MetaFile)
		if err != nil {
			return err
		}
		if len(blocks) == 0 || blocks[0]["Entry-Definitions"] == "" {
			return fault(MetaFile, "does not name its Entry-Definitions")
		}
		c.Entry = blocks[0]["Entry-Definitions"]
		manifest = cmp.Or(blocks[0]["ETSI-Entry-Manifest"], blocks[0]["Entry-Manifest"])
		c.certificate = cmp.Or(blocks[0]["ETSI-Entry-Certificate"], blocks[0]["Entry-Certificate"])
		if err := c.declare(declared, MetaFile, "Name", blocks[1:]); err != nil {
			return err
		}
	} else {
		var err error
		if c.Entry, err = c.rootDefinitions(); err != nil {
			return err
		}
		if beside := strings.TrimSuffix(c.Entry, path.Ext(c.Entry)) + ".mf"; c.Has(beside) {
			manifest = beside
		}
	}
	if !c.Has(c.Entry) {
		return fault(c.Entry, "is named as the entry definitions and is not there")
	}
	if manifest == "" {
		for name := range c.files {
			if path.Ext(name) == ".mf" && !strings.Contains(name, "/") {
				return fault(name, "is a manifest that nothing names: call it after the descriptor %s, or name it in %s as ETSI-Entry-Manifest",
					path.Base(c.Entry), MetaFile)
			}
		}
	}
	if manifest != "" {
		c.Manifest = manifest
		blocks, err := c.blocks(manifest)
		if err != nil {
			return err
		}
		if err := c.declare(declared, manifest, "Source", blocks); err != nil {
			return err
		}
		for _, b := range blocks {
			if b["Hash"] != "" {
				c.signed[strings.TrimPrefix(b["Source"], "./")] = true
			}
		}
		if beside := strings.TrimSuffix(manifest, path.Ext(manifest)) + ".cert"; c.certificate == "" && c.Has(beside) {
			c.certificate = beside
		}
	}
	for _, a := range declared {
		c.Artifacts = append(c.Artifacts, a)
	}
	slices.SortFunc(c.Artifacts, func(a, b Artifact) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// rootDefinitions is the one YAML file at the root of a package without TOSCA.meta.
func (c *CSAR) rootDefinitions() (string, error) {
	var found []string
	for name := range c.files {
		if ext := path.Ext(name); !strings.Contains(name, "/") && (ext == ".yaml" || ext == ".yml") {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return "", fault("", "holds neither %s nor exactly one YAML file at its root", MetaFile)
	}
	return found[0], nil
}

// blocks reads a file of "Key: value" lines, in blocks that blank lines separate. A line that begins
// with a space continues the previous value. Text after a signature is not read.
func (c *CSAR) blocks(name string) ([]map[string]string, error) {
	text, err := c.Read(name)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(text) {
		return nil, fault(name, "is not UTF-8 text")
	}
	var blocks []map[string]string
	var block map[string]string
	last := ""
	for i, line := range strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n") {
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(trimmed, "-----BEGIN"):
			return blocks, nil
		case trimmed == "":
			block, last = nil, ""
		case strings.HasPrefix(trimmed, "#"):
		case line[0] == ' ' && last != "" && !strings.Contains(trimmed, ": "):
			block[last] += trimmed
		default:
			key, value, ok := strings.Cut(trimmed, ":")
			if !ok {
				return nil, fault(name, "has no \"key: value\" in line %d", i+1)
			}
			// A manifest begins a block with each Source, without a blank line.
			if key = strings.TrimSpace(key); block == nil || key == "Source" && block["Source"] != "" {
				block = map[string]string{}
				blocks = append(blocks, block)
			}
			if _, twice := block[key]; twice {
				return nil, fault(name, "says %s twice, the second time in line %d", Printable(key), i+1)
			}
			block[key], last = strings.TrimSpace(value), key
		}
	}
	return blocks, nil
}

// declare adds the artifacts that blocks name. One that both files name must be the same in both.
func (c *CSAR) declare(declared map[string]Artifact, from, key string, blocks []map[string]string) error {
	seen := map[string]bool{}
	for _, b := range blocks {
		name := strings.TrimPrefix(b[key], "./")
		if name == "" || strings.Contains(name, "://") {
			continue // the manifest's own metadata, or a file that lies elsewhere
		}
		a := Artifact{Path: name, ContentType: b["Content-Type"], Algorithm: spelled(b["Algorithm"]), Hash: strings.ToLower(b["Hash"])}
		before := declared[name]
		switch {
		case !PlainPath(name):
			return fault(from, "names a file whose path is not a plain relative one: %q", Printable(name))
		case !c.Has(name):
			return fault(name, "is named in %s and is not there", from)
		case seen[name]:
			return fault(name, "is named twice in %s", from)
		case (a.Algorithm == "") != (a.Hash == ""):
			return fault(name, "has an algorithm without a hash, or a hash without an algorithm, in %s", from)
		case a.Algorithm != "" && algorithms[a.Algorithm] == nil:
			return fault(name, "has a hash of an algorithm that is not supported in %s: use SHA-256 or SHA-512", from)
		case a.Algorithm == before.Algorithm && a.Hash != before.Hash:
			return fault(name, "has two different hashes")
		}
		seen[name] = true
		if a.Hash == "" {
			a.Algorithm, a.Hash = before.Algorithm, before.Hash
		}
		a.ContentType = cmp.Or(a.ContentType, before.ContentType)
		if file := strings.TrimPrefix(b["Signature"], "./"); file != "" {
			c.single[name] = singleSignature{file, strings.TrimPrefix(b["Certificate"], "./")}
		}
		declared[name] = a
		if before.Algorithm != a.Algorithm {
			if err := c.checkHash(before); err != nil {
				return err
			}
		}
	}
	return nil
}

// spelled is an algorithm's name as SOL004 spells it: "sha256" and "SHA256" are "SHA-256".
func spelled(algorithm string) string {
	a := strings.ToUpper(algorithm)
	if bits, ok := strings.CutPrefix(a, "SHA"); ok && bits != "" && bits[0] != '-' {
		return "SHA-" + bits
	}
	return a
}

// Hashed returns the artifacts, each with a hash: the one that the package says, or its SHA-256.
func (c *CSAR) Hashed() ([]Artifact, error) {
	all := slices.Clone(c.Artifacts)
	for i, a := range all {
		if a.Hash != "" {
			continue
		}
		a.Algorithm = "SHA-256"
		sum, err := c.sum(a)
		if err != nil {
			return nil, err
		}
		all[i].Algorithm, all[i].Hash = a.Algorithm, sum
	}
	return all, nil
}

// sum is the hash that a file has, in hex.
func (c *CSAR) sum(a Artifact) (string, error) {
	r, _, err := c.Stream(a.Path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	sum := algorithms[a.Algorithm]()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// checkHash compares a file with the hash that the package says it has.
func (c *CSAR) checkHash(a Artifact) error {
	if a.Hash == "" {
		return nil
	}
	sum, err := c.sum(a)
	if err == nil && sum != a.Hash {
		err = fault(a.Path, "does not have the hash that the package says")
	}
	return err
}
