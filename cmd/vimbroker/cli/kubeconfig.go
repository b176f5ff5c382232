package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/lessee"
)

func (p *program) kubeconfigCommand() *cobra.Command {
	return console.Group("kubeconfig", "Keep contexts for VIMs in your own kubeconfig",
		`A context of a VIM holds no credential: kubectl, Helm and others run
"vimbroker credential" when they need one, and renew it by themselves.`,
		`  vimbroker kubeconfig merge edge-1 --role view --use
  vimbroker kubeconfig remove edge-1`,
		p.kubeconfigMergeCommand(), p.kubeconfigRemoveCommand(),
	)
}

// contextOf is the name that merge gives the context of a VIM.
func contextOf(vim string) string { return "vimbroker-" + strings.ReplaceAll(vim, "/", "-") }

// kubeconfigPath is the file that kubectl would change: the first of KUBECONFIG, or ~/.kube/config. Links are followed.
func (p *program) kubeconfigPath() (string, error) {
	name := p.Env.Get("HOME") + "/.kube/config"
	if list := filepath.SplitList(p.Env.Get("KUBECONFIG")); len(list) > 0 && list[0] != "" {
		name = list[0]
	}
	real, err := filepath.EvalSymlinks(name)
	if errors.Is(err, os.ErrNotExist) {
		return name, nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err) // the error itself does not say which
	}
	return real, nil
}

func (p *program) kubeconfigMergeCommand() *cobra.Command {
	var f lessee.Flags
	var name string
	var use bool
	c := argument{complete: p.VimNames}.command(p, &cobra.Command{
		Use:   "merge VIM",
		Short: "Add a context for a VIM to your kubeconfig, or bring it up to date",
		Long: `Add a context for a VIM to the kubeconfig that kubectl uses ($KUBECONFIG, or
~/.kube/config), with the cluster and an exec plugin: it holds no credential. An
entry of that name that is not vimbroker's is left alone, and so is everything
else in the file.`,
		Example: `  vimbroker kubeconfig merge edge-1 --role view
  vimbroker kubeconfig merge edge-1 --role edit -n web --context web --use`,
	}, func(c *cobra.Command, vim string, registry *client.Client) error {
		ref, err := p.VIMRef(c.Context(), registry, vim)
		if err != nil {
			return err
		}
		v, err := registry.VIM(c.Context(), ref)
		if err != nil {
			return err
		}
		if name == "" {
			name = contextOf(vim)
		}
		text := pluginKubeconfig(v, name, f, lessee.Plugin(p.Console, v, f))
		return p.changeKubeconfig(func(k *kubeconfigNode) error {
			if err := k.merge(text); err != nil {
				return err
			}
			if use {
				k.set("current-context", name)
			}
			return nil
		}, "context "+name+" is in %s; use it with: kubectl --context "+name+" get namespaces")
	})
	f.Add(p.Console, c)
	c.Flags().StringVar(&name, "context", "", "name of the context (default: vimbroker-VIM)")
	c.Flags().BoolVar(&use, "use", false, "make it the current context")
	return c
}

func (p *program) kubeconfigRemoveCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use: "remove VIM", Aliases: []string{"rm", "delete"},
		Short: "Remove the context of a VIM from your kubeconfig",
		Long: "Remove what merge has added for a VIM, with its cluster and user. Leases stay:\n" +
			"\"vimbroker lease revoke --mine --vim VIM\" ends them.",
		Example: "  vimbroker kubeconfig remove edge-1",
		Args:    console.Names("VIM"), ValidArgsFunction: console.OnlyFirst(p.VimNames),
		RunE: func(_ *cobra.Command, args []string) error {
			if name == "" {
				name = contextOf(args[0])
			}
			return p.changeKubeconfig(func(k *kubeconfigNode) error { return k.remove(name) }, "context "+name+" is gone from %s")
		},
	}
	c.Flags().StringVar(&name, "context", "", "name of the context (default: vimbroker-VIM)")
	return c
}

// changeKubeconfig changes the person's kubeconfig under the lock that kubectl takes: whole, or not at all.
func (p *program) changeKubeconfig(change func(*kubeconfigNode) error, said string) error {
	name, err := p.kubeconfigPath()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	lock, err := os.OpenFile(name+".lock", os.O_CREATE|os.O_EXCL, 0)
	if err != nil {
		return fmt.Errorf("another program is changing %s; if none is, remove %s.lock: %w", name, name, err)
	}
	defer os.Remove(lock.Name()) //nolint:errcheck // the next one says so
	_ = lock.Close()
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	k, err := readKubeconfig(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := change(k); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(k.root), e.Close()); err != nil {
		return err
	}
	if err := files.WritePrivate(name, out.Bytes()); err != nil {
		return err
	}
	p.Warn(said, name)
	return nil
}

// kubeconfigNode is a kubeconfig of which only the entries that are ours are looked into: everything else, comments too,
// stays as it is.
type kubeconfigNode struct{ root *yaml.Node }

// kubeconfigLists are the lists of named entries.
var kubeconfigLists = []string{"clusters", "users", "contexts"}

func readKubeconfig(text []byte) (*kubeconfigNode, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("apiVersion: v1\nkind: Config\n")
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("is not a kubeconfig; mend it, or name another in KUBECONFIG")
	}
	return &kubeconfigNode{document.Content[0]}, nil
}

// value is that of a key, or nil.
func value(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// set gives a key a text.
func (k *kubeconfigNode) set(key, text string) {
	if v := value(k.root, key); v != nil {
		v.SetString(text)
		return
	}
	name, v := &yaml.Node{}, &yaml.Node{}
	name.SetString(key)
	v.SetString(text)
	k.root.Content = append(k.root.Content, name, v)
}

// list is a list of named entries, made if it is not there or null.
func (k *kubeconfigNode) list(key string) *yaml.Node {
	v := value(k.root, key)
	if v == nil {
		name := &yaml.Node{}
		name.SetString(key)
		v = &yaml.Node{Kind: yaml.SequenceNode}
		k.root.Content = append(k.root.Content, name, v)
	}
	if v.Kind != yaml.SequenceNode {
		*v = yaml.Node{Kind: yaml.SequenceNode}
	}
	return v
}

// at is the place of an entry by its name, or -1.
func at(list *yaml.Node, name string) int {
	return slices.IndexFunc(list.Content, func(n *yaml.Node) bool {
		v := value(n, "name")
		return v != nil && v.Value == name
	})
}

// ours reports whether the entries of a name are vimbroker's: the user runs its plugin.
func (k *kubeconfigNode) ours(name string) bool {
	users := k.list("users")
	i := at(users, name)
	if i < 0 {
		return false
	}
	exec := value(value(users.Content[i], "user"), "exec")
	command, args := value(exec, "command"), value(exec, "args")
	return command != nil && strings.TrimSuffix(filepath.Base(command.Value), ".exe") == "vimbroker" &&
		args != nil && len(args.Content) > 0 && args.Content[0].Value == "credential"
}

// merge puts the entries of a kubeconfig in the place of those of their name, or at the end.
func (k *kubeconfigNode) merge(text string) error {
	with, err := readKubeconfig([]byte(text))
	if err != nil {
		return err
	}
	name := value(with.root, "current-context").Value
	for _, key := range kubeconfigLists {
		if at(k.list(key), name) >= 0 && !k.ours(name) {
			return fmt.Errorf("has an entry %s among its %s that is not vimbroker's; take another name with --context", name, key)
		}
	}
	for _, key := range kubeconfigLists {
		list, entry := k.list(key), with.list(key).Content[0]
		if i := at(list, name); i >= 0 {
			list.Content[i] = entry
		} else {
			list.Content = append(list.Content, entry)
		}
	}
	if value(k.root, "current-context") == nil {
		k.set("current-context", name)
	}
	return nil
}

// remove takes the entries of a name away. A current context that is gone is none.
func (k *kubeconfigNode) remove(name string) error {
	if !k.ours(name) {
		return console.Missing("has no context %s of vimbroker's", name)
	}
	for _, key := range kubeconfigLists {
		list := k.list(key)
		if i := at(list, name); i >= 0 {
			list.Content = slices.Delete(list.Content, i, i+1)
		}
	}
	if v := value(k.root, "current-context"); v != nil && v.Value == name {
		v.SetString("")
	}
	return nil
}
