package audit

import "context"

// Door is a way by which requests come in: each standard's view of the broker is one.
type Door string

// Every door.
const (
	DoorREST     Door = "rest"    // also the command line's
	DoorTacker   Door = "tacker"  // Tacker's VIMs
	DoorLogin    Door = "login"   // tokens of clients, and tokens under standing leases
	DoorGrants   Door = "grant"   // SOL003 clause 9
	DoorVNFs     Door = "vnflcm"  // SOL003 clause 5
	DoorPackages Door = "vnfpkgm" // SOL003 clause 10
	DoorONAP     Door = "onap"    // ONAP's Kubernetes plugin
	DoorPage     Door = "page"    // people's browsers
)

// WithDoor returns a context under which entries say that the request came in by a door.
func WithDoor(ctx context.Context, d Door) context.Context { return byDoor.with(ctx, d) }

// DoorOf returns the door that [WithDoor] put into the context, or "".
func DoorOf(ctx context.Context) Door { return byDoor.of(ctx) }
