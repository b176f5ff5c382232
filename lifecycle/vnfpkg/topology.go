package vnfpkg

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"
)

// Descriptors of Tacker's simple profile have this version of definitions, no VNF, no id and no flavour.
const simpleProfile = "tosca_simple_profile_for_nfv_1_0_0"

// TypeSimpleVDU is the type of VDUs in Tacker's simple profile.
const TypeSimpleVDU = "tosca.nodes.nfv.VDU.Tacker"

// simpleFlavour is the id of a simple profile's one flavour.
const simpleFlavour = "simple"

func (f definitions) simple() bool { return f.Version == simpleProfile }

// simple is the VNFD of a simple profile. Its id follows from the content alone, so that the same files always have the same.
func (d *descriptor) simple(files []definitions) VNFD {
	var texts [][]byte
	for _, f := range files {
		texts = append(texts, f.text)
	}
	slices.SortFunc(texts[1:], bytes.Compare)
	entry, fl := files[0], Flavour{ID: simpleFlavour, VDUs: map[string]VDU{}}
	d.vnfd.ID = uuid.NewHash(sha256.New(), uuid.NameSpaceOID, bytes.Join(texts, []byte{0}), 8).String()
	d.vnfd.Provider, d.vnfd.ProductName = entry.Metadata["template_author"], entry.Metadata["template_name"]
	d.vnfd.Version = cmp.Or(entry.Metadata["template_version"], "1.0")
	d.vnfd.SoftwareVersion, d.vnfd.DefaultFlavour = d.vnfd.Version, fl.ID
	for name, t := range entry.Topology.Templates {
		if !d.is(t.Type, TypeSimpleVDU) {
			continue
		}
		fl.VDUs[name] = VDU{ID: name, Name: name, Initial: 1}
		_, containers := t.Properties["vnfcs"]
		fl.Containers = fl.Containers || containers
	}
	d.vnfd.Flavours[fl.ID] = fl
	return d.vnfd
}

// Topology is the file that describes a flavour, as it stands there, and the types of the descriptor.
type Topology struct {
	// File is the file's path, Root its YAML.
	File string
	Root *yaml.Node

	d *descriptor
	c *CSAR
}

// Topology finds the file of a deployment flavour of the descriptor.
func (c *CSAR) Topology(flavour string) (Topology, error) {
	files, err := c.definitions()
	if err != nil {
		return Topology{}, err
	}
	i := slices.IndexFunc(files, func(f definitions) bool { return f.Topology.Substitution.Properties["flavour_id"].Value == flavour })
	if i < 0 && flavour == simpleFlavour && files[0].simple() {
		i = 0
	}
	var root yaml.Node
	if i < 0 || yaml.Unmarshal(files[i].text, &root) != nil || len(root.Content) != 1 {
		return Topology{}, fault(c.Entry, "describes no deployment flavour %s", Printable(flavour))
	}
	return Topology{File: files[i].path, Root: root.Content[0], d: descriptorOf(files), c: c}, nil
}

// Is reports whether a type is another, or derives from it.
func (t Topology) Is(name, wanted string) bool { return t.d.is(name, wanted) }

// Default is the default of a type's property; nil for none.
func (t Topology) Default(name, property string) *yaml.Node {
	if n := t.d.property(name, property); !n.IsZero() {
		return &n
	}
	return nil
}

// Packed reports whether a file that the topology names is in the package.
func (t Topology) Packed(file string) bool { return t.c.Has(file) || t.c.Has(path.Join(path.Dir(t.File), file)) }

// Fault is a fault of the topology in a line of its file.
func (t Topology) Fault(line int, format string, args ...any) error {
	return fault(t.File, "cannot be translated to manifests: line %d: "+format, append([]any{line}, args...)...)
}

// Warning is a sentence about a line of its file.
func (t Topology) Warning(line int, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: "+format, append([]any{t.File, line}, args...)...)
}

// bareFile is the name that a descriptor has that came without a package. Its version of definitions stands within bareHead.
const (
	bareFile = "vnfd.yaml"
	bareHead = 16 << 10
)

// enclosed makes a package of a descriptor that came as a bare file of YAML; false for everything else.
func enclosed(r io.ReaderAt, size int64, limits ArchiveLimits) (*bytes.Reader, bool) {
	text := make([]byte, min(size, bareHead))
	if _, err := r.ReadAt(text, 0); err != nil && !ended(err) || size > limits.Text || bytes.IndexByte(text, 0) >= 0 ||
		!bytes.Contains(append([]byte("\n"), text...), []byte("\ntosca_definitions_version:")) {
		return nil, false
	}
	text, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, false
	}
	var archive bytes.Buffer
	out := zip.NewWriter(&archive)
	e, err := out.Create(bareFile)
	if err == nil {
		_, err = e.Write(text)
	}
	if err != nil || out.Close() != nil {
		return nil, false // which does not happen in memory
	}
	return bytes.NewReader(archive.Bytes()), true
}
