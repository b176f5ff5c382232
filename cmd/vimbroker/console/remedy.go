package console

import "strings"

// commands puts into a remedy of the REST API the command for each operation it names.
var commands = strings.NewReplacer(
	"DELETE /v1/vims/{id}?drain=true", `"vimbroker vim delete --drain"`,
	"PATCH /v1/vims/{id}", `"vimbroker vim update --default"`,
	"POST /v1/vims/{id}/rotate", `"vimbroker vim rotate"`,
	"POST /v1/vims/{id}/check", `"vimbroker vim check"`,
	"POST /v1/policy:explain", `"vimbroker policy explain"`,
	"POST /v1/leases:revoke", `"vimbroker lease revoke --vim NAME"`,
	"GET /v1/vims", `"vimbroker vim list"`,
	"GET /v1/leases", `"vimbroker lease list"`,
)
