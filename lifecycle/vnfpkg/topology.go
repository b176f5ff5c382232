package vnfpkg

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"
)

// Descriptors of Tacker's simple profile have this version of definitions, no VNF, no id, and here one flavour of that id.
const simpleProfile, simpleFlavour = "tosca_simple_profile_for_nfv_1_0_0", "simple"

// simple is the VNFD of a simple profile. Its id follows from the content alone, so that the same files always have the same.
func (d *descriptor) simple(files []definitions) VNFD {
	var texts []string
	for _, f := range files {
		texts = append(texts, string(f.text))
	}
	slices.Sort(texts)
	entry, fl := files[0], Flavour{ID: simpleFlavour, VDUs: map[string]VDU{}}
	d.vnfd.ID = uuid.NewHash(sha256.New(), uuid.NameSpaceOID, []byte(strings.Join(texts, "\x00")), 8).String()
	d.vnfd.Provider, d.vnfd.ProductName = entry.Metadata["template_author"].Value, entry.Metadata["template_name"].Value
	d.vnfd.Version = cmp.Or(entry.Metadata["template_version"].Value, "1.0")
	d.vnfd.SoftwareVersion, d.vnfd.DefaultFlavour = d.vnfd.Version, fl.ID
	for name, t := range entry.Topology.Templates {
		if d.is(t.Type, "tosca.nodes.nfv.VDU.Tacker") {
			fl.VDUs[name] = VDU{ID: name, Name: name, Initial: 1}
			fl.Containers = fl.Containers || len(t.Properties["vnfcs"].Content) > 0
		}
	}
	d.vnfd.Flavours[fl.ID] = fl
	return d.vnfd
}

// Topology is the file that describes a flavour, as it stands there.
type Topology struct {
	File string // its path
	Root *yaml.Node
	// Is reports whether a type is another, or derives from it. Default is that of a type's property, or zero.
	Is      func(name, wanted string) bool
	Default func(name, property string) yaml.Node
	Has     func(file string) bool // in the package
}

// Topology finds the file of a deployment flavour of the descriptor.
func (c *CSAR) Topology(flavour string) (Topology, error) {
	files, err := c.definitions()
	if err != nil {
		return Topology{}, err
	}
	i := slices.IndexFunc(files, func(f definitions) bool { return f.Topology.Substitution.Properties["flavour_id"].Value == flavour })
	if i < 0 && flavour == simpleFlavour && files[0].Version == simpleProfile {
		i = 0
	}
	var root yaml.Node
	if i < 0 || yaml.Unmarshal(files[i].text, &root) != nil || len(root.Content) != 1 {
		return Topology{}, fault(c.Entry, "describes no deployment flavour %s", Printable(flavour))
	}
	d := descriptorOf(files)
	return Topology{files[i].path, root.Content[0], d.is, d.property, c.Has}, nil
}

// enclosed makes a package of a descriptor that came as a bare file of YAML, whose first 16 KiB say its version of
// definitions; everything else stays as it is.
func enclosed(r io.ReaderAt, size int64, limits ArchiveLimits) (io.ReaderAt, int64, error) {
	text := make([]byte, min(size, 16<<10))
	if err := readAt(r, text, 0); err != nil || size > limits.Text || bytes.IndexByte(text, 0) >= 0 ||
		!bytes.Contains(append([]byte("\n"), text...), []byte("\ntosca_definitions_version:")) {
		return r, size, err
	}
	var archive bytes.Buffer
	out := zip.NewWriter(&archive)
	e, err := out.Create("vnfd.yaml")
	if err == nil {
		_, err = io.Copy(e, io.NewSectionReader(r, 0, size))
	}
	err = cmp.Or(err, out.Close())
	return bytes.NewReader(archive.Bytes()), int64(archive.Len()), err
}
