package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) leasePushCommand() *cobra.Command {
	var push v1.LeasePush
	c := p.lease().command(p, &cobra.Command{
		Use:   "push ID",
		Short: "Keep a kubeconfig of a standing lease in a target",
		Long: `Have the server write a Secret to one of its targets, such as an Argo CD. The
Secret names the lease and an exec plugin that logs in as the lease's holder, a
registered client. It holds no credential. The server keeps it as the VIM is,
and removes it once the lease is revoked.`,
		Example: `  vimbroker lease push 3f0c9c0e-5f4b-4b3f-9a53-2f1f1f6d1c11 \
      --target argocd --name edge-1-web`,
	}, func(c *cobra.Command, id string, registry *client.Client) error {
		return answered(printed(p, func(w io.Writer, at v1.PushedLease) {
			_, _ = fmt.Fprintf(w, "secret %s/%s of target %s\n", at.Namespace, at.Name, at.Target) // p.Print tells
		}))(registry.PushLease(c.Context(), id, push))
	})
	c.Flags().StringVar(&push.Target, "target", "", "name of the target, as the server's configuration has it")
	c.Flags().StringVar(&push.Name, "name", "", "name of the Secret")
	console.MustHave(c, "target", "name")
	p.OutputFlag(c)
	return c
}
