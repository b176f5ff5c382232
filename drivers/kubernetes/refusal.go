package kubernetes

import (
	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rebuild"
)

// Why keys that the format knows are refused. A kubeconfig from outside is
// hostile: these run commands here, send our files there, or turn verification off.
const (
	readsFile   = "names a file of the machine it was made on: put the data in its place (kubectl config view --raw --flatten)"
	runsCommand = "would run a command: register a token or client certificate instead"
	actsAs      = "impersonation is not supported: register the credential of that identity itself"
	notUsed     = "is not used: remove it"
)

var (
	refusedInCluster = map[string]string{
		"certificate-authority": readsFile,
		"proxy-url":             "proxies are not supported",
		"extensions":            notUsed,
	}
	refusedInUser = map[string]string{
		"exec":               runsCommand,
		"auth-provider":      runsCommand,
		"tokenFile":          readsFile,
		"client-certificate": readsFile,
		"client-key":         readsFile,
		"username":           "user name and password are only accepted outside a kubeconfig",
		"password":           "user name and password are only accepted outside a kubeconfig",
		"as":                 actsAs,
		"as-uid":             actsAs,
		"as-groups":          actsAs,
		"as-user-extra":      actsAs,
		"extensions":         notUsed,
	}
	refusedInContext = map[string]string{"extensions": notUsed}
	refusedAtTop     = map[string]string{"extensions": notUsed}
)

// refuse is the error of a key that is known and refused; without a reason it is not known.
func refuse(path, why string) error {
	if why == "" {
		return rebuild.ErrUnknown
	}
	return broker.Invalid(path, "is refused: %s", why)
}
