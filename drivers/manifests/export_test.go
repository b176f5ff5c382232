package manifests

import "time"

// Quick is a driver that waits hardly between two looks.
func Quick() *Driver { return &Driver{pause: 100 * time.Microsecond, manager: ownManager} }
