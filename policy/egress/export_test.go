package egress

import "net"

// On has this machine have these addresses.
func On(own ...net.Addr) (restore func()) {
	before := interfaces
	interfaces = func() ([]net.Addr, error) { return own, nil }
	return func() { interfaces = before }
}
