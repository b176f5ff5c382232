package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

const theirs = `# my clusters
apiVersion: v1
kind: Config
clusters:
  - name: home # at home
    cluster: {server: https://home.example}
users:
  - name: home
    user: {token: c4nary}
contexts:
  - name: home
    context: {cluster: home, user: home}
current-context: home
preferences: {}
`

// merged is a kubeconfig after a merge of a context of that name.
func merged(t *testing.T, k *kubeconfigNode, name, server string) error {
	t.Helper()
	text := clientconfig.KubernetesClient{}.PluginKubeconfig(clientconfig.Config{VIM: name, Endpoint: server},
		clientconfig.Plugin{Command: "/usr/bin/vimbroker", Args: []string{"credential", "--vim", "x"}})
	return k.merge(text)
}

// In a person's kubeconfig, merging and removing leave what is not vimbroker's as it is, comments too.
func TestMergeAndRemove(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "kept"), filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	p := &program{&console.Console{Err: &said, Env: []string{"KUBECONFIG=" + link + ":/other"}}}
	change := func(do func(*kubeconfigNode) error) string {
		t.Helper()
		if err := p.changeKubeconfig(do, "it is in %s"); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, server := range []string{"https://one.example", "https://two.example"} {
		got := change(func(k *kubeconfigNode) error { return merged(t, k, "edge", server) })
		if strings.Count(got, "name: edge") != 3 || !strings.Contains(got, server) || strings.Contains(got, "one.example") == strings.Contains(got, "two.example") {
			t.Errorf("after merging %s:\n%s", server, got)
		}
		for _, kept := range []string{"# my clusters", "# at home", "token: c4nary", "current-context: home", "preferences: {}"} {
			if !strings.Contains(got, kept) {
				t.Errorf("%q is gone:\n%s", kept, got)
			}
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is replaced: %v, %v", info, err)
	}
	before := change(func(k *kubeconfigNode) error { return nil })
	for name, do := range map[string]func(*kubeconfigNode) error{
		"replaces another's":   func(k *kubeconfigNode) error { return merged(t, k, "home", "https://one.example") },
		"removes another's":    func(k *kubeconfigNode) error { return k.remove("home") },
		"removes what is none": func(k *kubeconfigNode) error { return k.remove("away") },
	} {
		if err := p.changeKubeconfig(do, "%s"); err == nil {
			t.Error(name)
		}
	}
	if after := change(func(k *kubeconfigNode) error { return k.remove("edge") }); strings.Contains(after, "edge") || len(after) >= len(before) {
		t.Errorf("after removing:\n%s", after)
	}
	if err := os.WriteFile(file+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.changeKubeconfig(func(*kubeconfigNode) error { return nil }, "%s"); err == nil || !strings.Contains(err.Error(), "another program is changing") {
		t.Errorf("a locked file: %v", err)
	}
	if strings.Contains(said.String(), "c4nary") {
		t.Error("a secret of the file is printed")
	}
}

// A context that is removed is current no more, and an empty file gets its first.
func TestMergeIntoNothing(t *testing.T) {
	for _, text := range []string{"", "apiVersion: v1\nkind: Config\nclusters: null\nusers: []\n"} {
		k, err := readKubeconfig([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := merged(t, k, "edge", "https://one.example"); err != nil || value(k.root, "current-context").Value != "edge" {
			t.Errorf("merging into %q: %v", text, err)
		}
		if err := k.remove("edge"); err != nil || value(k.root, "current-context").Value != "" {
			t.Errorf("removing: %v", err)
		}
	}
	for _, text := range []string{"- a", "a: [", "just words"} {
		if _, err := readKubeconfig([]byte(text)); err == nil {
			t.Errorf("%q is taken for a kubeconfig", text)
		}
	}
}
