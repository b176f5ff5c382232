package egress_test

import (
	"fmt"
	"net/netip"

	"github.com/vimbroker/vimbroker/policy/egress"
)

// A site lets the broker reach one network, on two ports.
func ExampleRules_Check() {
	rules, err := egress.Parse(false, []string{"10.20.0.0/16"}, []string{"443", "6443"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, addr := range []string{"10.20.1.5:6443", "10.20.1.5:22", "10.99.0.1:443", "169.254.169.254:443"} {
		fmt.Println(addr, rules.Check(netip.MustParseAddrPort(addr)) == nil)
	}
	// Output:
	// 10.20.1.5:6443 true
	// 10.20.1.5:22 false
	// 10.99.0.1:443 false
	// 169.254.169.254:443 false
}
