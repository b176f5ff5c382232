package clientconfig_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// A lease's configuration in a form that one of its clients reads. The text holds the
// credential, so it shows itself only by Reveal.
func ExampleConfig_Render() {
	config := clientconfig.Config{
		VIM: "edge", Lease: "0b5f", Endpoint: "https://192.0.2.7:6443",
		Credential: secret.Credential{Token: secret.NewText("a-token-of-an-hour")},
		Client:     clientconfig.KubernetesClient{Namespace: "cnf"},
		ExpiresAt:  time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}
	text, err := config.Render(clientconfig.ExecCredential)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text)
	fmt.Print(text.Reveal())
	// Output:
	// [secret]
	// {"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false},"status":{"expirationTimestamp":"2026-03-01T11:59:50Z","token":"a-token-of-an-hour"}}
}

// The same configuration as files, which go when they are no longer needed.
func ExampleDir_Write() {
	root, err := os.MkdirTemp("", "vimbroker-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	dir, err := clientconfig.OpenDir(root)
	if err != nil {
		fmt.Println(err)
		return
	}
	files, err := dir.Write(clientconfig.Config{
		VIM: "edge", Lease: "0b5f", Endpoint: "https://192.0.2.7:6443",
		Credential: secret.Credential{Token: secret.NewText("a-token-of-an-hour")}, Client: clientconfig.KubernetesClient{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, variable := range files.Env() {
		name, path, _ := strings.Cut(variable, "=")
		info, err := os.Stat(path)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, "names a file of mode", info.Mode())
	}
	if err := dir.Close(); err != nil {
		fmt.Println(err)
	}
	_, err = os.Stat(files.Main())
	fmt.Println("it is gone:", errors.Is(err, fs.ErrNotExist))
	// Output:
	// KUBECONFIG names a file of mode -rw-------
	// KUBE_CONFIG_PATH names a file of mode -rw-------
	// it is gone: true
}
