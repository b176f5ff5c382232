package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

func (p *program) packageCommand() *cobra.Command {
	return console.Group("package", "Make, upload and keep VNF packages",
		`VNF packages (CSAR, ETSI GS NFV-SOL004) are what VNF instances are made of. A
package is named by its id, by how that begins, or by the id of its VNFD.`,
		`  vimbroker package create web --vnfd web-1.0 --out web.csar
  vimbroker package upload web.csar
  vimbroker package list`,
		p.packageCreateCommand(), p.packageUploadCommand(),
		ask(p, &cobra.Command{
			Use: "list", Aliases: []string{"ls"},
			Short: "List packages", Long: "List the VNF packages that you may see, oldest first.",
			Example: "  vimbroker package list",
		}, func(registry *client.Client, ctx context.Context) ([]client.Package, error) {
			return gather(registry.AllPackages(ctx))
		}, printedAll(p, p.packageTable)),
		p.packageShowCommand(),
		p.packageSwitchCommand("enable", "Let instances be made of a package", true),
		p.packageSwitchCommand("disable", "Let no more instances be made of a package", false),
		act(p, vnfPackages.argument(p), &cobra.Command{
			Use: "delete PACKAGE", Short: "Delete a package",
			Long:    "Delete a VNF package that is disabled and that no instance was made of.",
			Example: "  vimbroker package disable web-1.0\n  vimbroker package delete web-1.0",
		}, (*client.Client).DeletePackage),
		p.packageDownloadCommand(), p.packageTranslateCommand(),
	)
}

// packing are the flags of what makes a package of a directory.
type packing struct {
	vnfd, provider, product, version string
	most                             int
	vdus                             []string
	// packed are the files that were packed, leftOut those of a chart's directory that were not.
	packed  []vnfpkg.ManifestFile
	leftOut []string
}

func (f *packing) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.vnfd, "vnfd", "", "id of the VNFD that is written (default: the directory's name and the version)")
	flags.StringVar(&f.provider, "provider", "local", "who provides it")
	flags.StringVar(&f.product, "product", "", "name of the product (default: the directory's)")
	flags.StringVar(&f.version, "version", "1.0", "version of software and descriptor")
	flags.IntVar(&f.most, "max", 5, "to how many instances each workload may be scaled")
	flags.StringArrayVar(&f.vdus, "vdu", nil,
		"NAME or NAME=INSTANCES (1): workload of a Helm chart that is a VDU, without the release's name (repeatable)")
}

// tell says which files were packed, and which were not.
func (f *packing) tell(say func(string, ...any)) {
	for _, file := range f.packed {
		say("packed    %s", file.Path)
	}
	for _, file := range f.leftOut {
		say("left out  %s", file)
	}
}

// maxManifest bounds a manifest that is packed, in bytes.
const maxManifest = 8 << 20

// pack makes a package of the manifests in a directory, or of a base HOT.
func (f *packing) pack(dir string) ([]byte, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(full)
	d := vnfpkg.Assembly{VNFDID: f.vnfd, Provider: f.provider, ProductName: f.product, SoftwareVersion: f.version, Version: f.version}
	if d.ProductName == "" {
		d.ProductName = name
	}
	if d.VNFDID == "" {
		d.VNFDID = name + "-" + f.version
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := root.Stat(chartFile); err == nil {
		if d.Manifests, d.VDUs, err = f.chart(root, name); err != nil {
			return nil, err
		}
		f.packed = d.Manifests
		return packed(d)
	}
	if len(f.vdus) > 0 {
		return nil, fmt.Errorf("--vdu is for Helm charts, and %s holds no %s: the workloads of manifests are found by themselves", dir, chartFile)
	}
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		template, isTemplate := strings.CutPrefix(filepath.ToSlash(path), vnfpkg.TemplateFolder)
		if err != nil || entry.IsDir() || !isTemplate && !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
			return err
		}
		text, err := fs.ReadFile(root.FS(), path)
		switch flavour, name, below := strings.Cut(template, "/"); {
		case err != nil:
			return err
		case len(text) > maxManifest:
			return fmt.Errorf("%s has more than %d bytes", path, maxManifest)
		case !isTemplate:
			d.Manifests = append(d.Manifests, vnfpkg.ManifestFile{Path: path, Text: text})
		case !below || d.Flavour != "" && d.Flavour != flavour:
			return fmt.Errorf("%s is not in the one folder that %s may have: that of the deployment flavour", path, vnfpkg.TemplateFolder)
		default:
			d.Flavour = flavour
			d.Templates = append(d.Templates, vnfpkg.ManifestFile{Path: name, Text: text})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(d.Manifests)+len(d.Templates) == 0 {
		return nil, fmt.Errorf("%s holds no manifests: no file there ends in .yaml, .yml or .json, or is under %sFLAVOUR",
			dir, vnfpkg.TemplateFolder)
	}
	found, err := vnfpkg.Workloads(d.Manifests)
	if err != nil {
		return nil, err
	}
	for _, v := range found.VDUs {
		v.Max = max(v.Number, f.most)
		d.VDUs = append(d.VDUs, v)
	}
	d.VDUs = append(d.VDUs, vnfpkg.Templates(d.Templates, f.most)...)
	f.packed = append(slices.Clone(d.Manifests), d.Templates...)
	return packed(d)
}

// packed is a draft as an archive.
func packed(d vnfpkg.Assembly) ([]byte, error) {
	var archive bytes.Buffer
	if err := vnfpkg.Pack(&archive, d); err != nil {
		return nil, err
	}
	return archive.Bytes(), nil
}

func (p *program) packageCreateCommand() *cobra.Command {
	var f packing
	var out string
	c := &cobra.Command{
		Use: "create DIR", Short: "Make a package of manifests, a Helm chart or a base HOT",
		Long: `Make a VNF package of the Kubernetes manifests in a directory. Its VNFD names
each Deployment, StatefulSet, ReplicaSet and Pod as a VDU with a scaling aspect
of its own, and each object of another kind that has the annotation
vimbroker.io/vdu: NAME. What is in the directory's BaseHOT/FLAVOUR is the base
HOT of a VNF on OpenStack: each VDU whose desired_capacity or computeFlavourId
it takes from the parameter nfv is one, the former with a scaling aspect. A
directory with a Chart.yaml is a Helm chart: all of it is packed but for files
and folders with a dot (.git, .env), kubeconfigs and private keys, and --vdu
names its workloads. The same directory and flags always give the same file.
Nothing is uploaded.`,
		Example: "  vimbroker package create web --vnfd web-1.0 --out web.csar",
		Args:    console.Names("DIR"), ValidArgsFunction: console.OnlyFirst(console.Directories),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return console.Usagef(c, "--out is missing")
			}
			archive, err := f.pack(args[0])
			if err != nil {
				return err
			}
			if err := os.WriteFile(out, archive, 0o600); err != nil {
				return err
			}
			f.tell(p.Say)
			p.Say("%s written: %d bytes", out, len(archive))
			return nil
		},
	}
	f.add(c)
	c.Flags().StringVar(&out, "out", "", "file to write")
	return c
}

func (p *program) packageUploadCommand() *cobra.Command {
	var f packing
	var user, passwordFile string
	c := argument{name: "FILE", complete: console.Files}.command(p, &cobra.Command{
		Use: "upload FILE|DIR|https://...", Short: "Upload a package",
		Long: `Upload a VNF package, or make one of a directory as "package create"
does and upload that. A descriptor alone, as a file of YAML, is a package as
well. The server fetches one at an address that begins with
https:// itself; it keeps no password for that. The package is looked through,
and enabled. An upload that fails leaves nothing.`,
		Example: "  vimbroker package upload web.csar\n  vimbroker package upload ./web --vnfd web-1.0",
	}, func(c *cobra.Command, from string, registry *client.Client) error {
		send := func(ctx context.Context, id string) error {
			password, err := p.secretFile("password", passwordFile)
			if err != nil {
				return err
			}
			return registry.UploadPackageFrom(ctx, id, sol003.UploadFromRequest{URI: from, Username: user, Password: password})
		}
		if !strings.Contains(from, "://") {
			content, size, err := f.open(from)
			if err != nil {
				return err
			}
			defer content.Close()
			f.tell(p.Say)
			send = func(ctx context.Context, id string) error { return registry.UploadPackage(ctx, id, content, size) }
		}
		made, err := registry.CreatePackage(c.Context(), nil)
		if err != nil {
			return err
		}
		if err := send(c.Context(), made.ID); err != nil {
			return errors.Join(err, registry.DeletePackage(context.WithoutCancel(c.Context()), made.ID))
		}
		return answered(printed(p, p.packageFacts))(registry.Package(c.Context(), made.ID))
	})
	f.add(c)
	c.Flags().StringVar(&user, "username", "", "user at the server of an address, with --password-file")
	c.Flags().StringVar(&passwordFile, "password-file", "", "file with the password at that server (- is standard input)")
	p.OutputFlag(c)
	return c
}

// open opens a package, or makes one of a directory.
func (f *packing) open(path string) (io.ReadCloser, int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	about, err := file.Stat()
	if err != nil || !about.IsDir() {
		return file, about.Size(), err
	}
	_ = file.Close() // of a directory nothing was read
	archive, err := f.pack(path)
	return io.NopCloser(bytes.NewReader(archive)), int64(len(archive)), err
}

func (p *program) packageTable(w io.Writer, all []client.Package) {
	p.Header(w, []string{"ID", "VNFD", "PRODUCT", "VERSION", "STATE", "USAGE"}, "PROVIDER", "ONBOARDING", "PROJECT")
	for _, pkg := range all {
		p.Columns(w, []string{p.id(pkg.ID), p.Cut(pkg.VNFDID), p.Cut(pkg.ProductName), pkg.SoftwareVersion, pkg.OperationalState, pkg.UsageState},
			pkg.Provider, pkg.OnboardingState, pkg.Own.Project)
	}
}

func (p *program) packageShowCommand() *cobra.Command {
	var manifests bool
	c := show(p, vnfPackages.argument(p), &cobra.Command{
		Use:   "show PACKAGE",
		Short: "Show one package", Long: "Show one VNF package with the files that it declares.",
		Example: "  vimbroker package show web-1.0\n  vimbroker package show web-1.0 --manifests",
	}, (*client.Client).Package, printed(p, p.packageFacts))
	c.Flags().BoolVar(&manifests, "manifests", false, "print the manifests that instances are made of on Kubernetes, and nothing else")
	about, below := c.RunE, vnfPackages.command(p, &cobra.Command{}, p.printManifests).RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if manifests {
			return below(c, args)
		}
		return about(c, args)
	}
	return c
}

func (p *program) packageFacts(w io.Writer, pkg client.Package) {
	console.Facts(w, "Id", pkg.ID, "VNFD", pkg.VNFDID,
		"Product", strings.TrimSpace(pkg.Provider+" "+pkg.ProductName+" "+pkg.SoftwareVersion),
		"State", pkg.OnboardingState+", "+pkg.OperationalState+", "+pkg.UsageState, "Project", pkg.Own.Project,
		"Bytes", fmt.Sprint(pkg.Own.Size), "SHA-256", pkg.Own.SHA256, "Signed by", pkg.Own.Signer)
	for _, a := range pkg.Artifacts {
		console.Facts(w, "File", a.Path)
	}
	for _, text := range pkg.Own.Warnings {
		console.Facts(w, "Warning", text)
	}
}

func (p *program) packageSwitchCommand(use, short string, on bool) *cobra.Command {
	return vnfPackages.command(p, &cobra.Command{
		Use: use + " PACKAGE", Short: short,
		Long:    short + ".\nInstances that there are stay as they are.",
		Example: "  vimbroker package " + use + " web-1.0",
	}, func(c *cobra.Command, id string, registry *client.Client) error {
		return registry.EnablePackage(c.Context(), id, on)
	})
}

func (p *program) packageDownloadCommand() *cobra.Command {
	var out string
	c := vnfPackages.command(p, &cobra.Command{
		Use: "download PACKAGE", Short: "Download the content of a package",
		Long:    "Write the content of a VNF package, as it was uploaded, to a file.",
		Example: "  vimbroker package download web-1.0 --out web.csar",
	}, func(c *cobra.Command, id string, registry *client.Client) error {
		if out == "" {
			return console.Usagef(c, "--out is missing")
		}
		file, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = registry.DownloadPackage(c.Context(), id, file)
		if err = errors.Join(err, file.Close()); err != nil {
			return errors.Join(err, os.Remove(out))
		}
		return nil
	})
	c.Flags().StringVar(&out, "out", "", "file to write, which must not be there yet")
	return c
}
