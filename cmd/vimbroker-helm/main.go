// Command vimbroker-helm renders one Helm chart for vimbroker's server, which starts it: it reads a request, writes
// an answer, and can do nothing else. The server and the command line link nothing of Helm.
package main

import (
	"os"

	"github.com/vimbroker/vimbroker/drivers/helm/render"
)

func main() { os.Exit(render.Main(os.Stdin, os.Stdout)) }
