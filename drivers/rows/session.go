package rows

import "github.com/vimbroker/vimbroker/broker/session"

// SessionColumns are the columns of the table sessions.
var SessionColumns = ColumnsOf[session.Session](`
	digest id principal project came source created_at used_at until ends_at`)
