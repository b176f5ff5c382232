package rows

import "github.com/vimbroker/vimbroker/broker/trust"

// TrustColumns are the columns of the table trust_entries.
var TrustColumns = ColumnsOf[trust.Listed](`
	name! definition=Authority created_by created_at updated_by updated_at`)
