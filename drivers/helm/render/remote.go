package render

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v4/pkg/provenance"

	"github.com/vimbroker/vimbroker/drivers/helm/chart"
)

// find looks for a version of a chart in a repository's index.
func find(r chart.Task) (a chart.Rendering, err error) {
	var index struct {
		Entries map[string]yaml.Node `yaml:"entries"`
	}
	var versions []struct {
		Version string   `yaml:"version"`
		URLs    []string `yaml:"urls"`
		Digest  string   `yaml:"digest"`
	}
	if err := yaml.Unmarshal(r.Index, &index); err != nil {
		return a, errors.New("the repository has no index that Helm can read")
	}
	entry, has := index.Entries[r.Name]
	if has && entry.Decode(&versions) != nil {
		return a, errors.New("the repository has no index that Helm can read")
	}
	for _, v := range versions {
		if v.Version == r.Version && len(v.URLs) > 0 {
			return chart.Rendering{URL: v.URLs[0], Digest: v.Digest}, nil
		}
	}
	return a, fmt.Errorf("the repository has no %s %s", r.Name, r.Version)
}

// signed verifies a chart's provenance, where it is asked for.
func signed(r chart.Task) error {
	if !r.Signed {
		return nil
	}
	keys, err := keyring(r.Keyring)
	if err != nil {
		return errors.New("the keyring of the server holds no keys of OpenPGP")
	}
	by := provenance.Signatory{KeyRing: keys}
	if _, err := by.Verify(r.Archive, r.Provenance, r.Name+"-"+r.Version+".tgz"); err != nil {
		return fmt.Errorf("its provenance is not that of %s %s by a key of the server's keyring", r.Name, r.Version)
	}
	return nil
}

// keyring reads keys as "gpg --export" gives them, with --armor or without.
func keyring(text []byte) (all openpgp.EntityList, err error) {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("-----BEGIN")) {
		return openpgp.ReadKeyRing(bytes.NewReader(text))
	}
	// One by one: reading one block takes some of what follows it.
	for _, one := range bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n-----END PGP PUBLIC KEY BLOCK-----")) {
		if len(bytes.TrimSpace(one)) == 0 {
			continue
		}
		block, err := armor.Decode(bytes.NewReader(one))
		if err != nil {
			return nil, err
		}
		keys, err := openpgp.ReadKeyRing(block.Body)
		if err != nil {
			return nil, err
		}
		all = append(all, keys...)
	}
	return all, nil
}
