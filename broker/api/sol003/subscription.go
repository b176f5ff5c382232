package sol003

import (
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// SubscriptionRequest is LccnSubscriptionRequest.
type SubscriptionRequest struct {
	Filter         *SubscriptionFilter         `json:"filter,omitempty"`
	CallbackURI    string                      `json:"callbackUri"`
	Authentication *SubscriptionAuthentication `json:"authentication,omitempty"`
	Verbosity      string                      `json:"verbosity,omitempty"`
}

// SubscriptionFilter is LifecycleChangeNotificationsFilter.
type SubscriptionFilter struct {
	Instances         *InstanceFilter `json:"vnfInstanceSubscriptionFilter,omitempty"`
	NotificationTypes []string        `json:"notificationTypes,omitempty"`
	OperationTypes    []string        `json:"operationTypes,omitempty"`
	OperationStates   []string        `json:"operationStates,omitempty"`
}

// InstanceFilter is VnfInstanceSubscriptionFilter.
type InstanceFilter struct {
	VNFDIDs     []string         `json:"vnfdIds,omitempty"`
	Providers   []ProviderFilter `json:"vnfProductsFromProviders,omitempty"`
	InstanceIDs []string         `json:"vnfInstanceIds,omitempty"`
	Names       []string         `json:"vnfInstanceNames,omitempty"`
}

// ProviderFilter selects the products of a provider; without products, all of them.
type ProviderFilter struct {
	Provider string          `json:"vnfProvider"`
	Products []ProductFilter `json:"vnfProducts,omitempty"`
}

// ProductFilter selects versions of a product; without versions, all of them.
type ProductFilter struct {
	Name     string          `json:"vnfProductName"`
	Versions []VersionFilter `json:"versions,omitempty"`
}

// VersionFilter selects a version of the software; with VNFDs, only those versions of its descriptor.
type VersionFilter struct {
	Software string   `json:"vnfSoftwareVersion"`
	VNFDs    []string `json:"vnfdVersions,omitempty"`
}

// SubscriptionAuthentication says how the server is to authenticate itself to the subscriber; it is in requests only.
type SubscriptionAuthentication struct {
	AuthType []string      `json:"authType"`
	Basic    *BasicParams  `json:"paramsBasic,omitempty"`
	OAuth2   *OAuth2Params `json:"paramsOauth2ClientCredentials,omitempty"`
}

// BasicParams are for BASIC.
type BasicParams struct {
	UserName string      `json:"userName"`
	Password secret.Text `json:"password"`
}

// OAuth2Params are for OAUTH2_CLIENT_CREDENTIALS.
type OAuth2Params struct {
	ClientID       string      `json:"clientId"`
	ClientPassword secret.Text `json:"clientPassword"`
	TokenEndpoint  string      `json:"tokenEndpoint"`
}

// Subscription is LccnSubscription.
type Subscription struct {
	ID          string              `json:"id"`
	Filter      *SubscriptionFilter `json:"filter,omitempty"`
	CallbackURI string              `json:"callbackUri"`
	Verbosity   string              `json:"verbosity"`
	Own         *SubscriptionDetail `json:"vimbroker,omitempty"`
	Links       Links               `json:"_links"`
}

// SubscriptionDetail holds the values that the standard has no place for.
type SubscriptionDetail struct {
	Project   string    `json:"project"`
	CreatedBy string    `json:"createdBy"`
	CreatedAt time.Time `json:"createdAt"`
	AuthType  []string  `json:"authType,omitempty"`
	// Waiting counts the notifications that are still to be sent, Delivered those that were taken, GivenUp those that
	// are not sent any more.
	Waiting     int        `json:"waiting"`
	Delivered   int64      `json:"delivered"`
	DeliveredAt *time.Time `json:"deliveredAt,omitempty"`
	GivenUp     int64      `json:"givenUp"`
	GivenUpAt   *time.Time `json:"givenUpAt,omitempty"`
	// Failures counts the attempts in a row that have failed; Fault says why the last did.
	Failures     int64      `json:"failures"`
	FailingSince *time.Time `json:"failingSince,omitempty"`
	Fault        string     `json:"fault,omitempty"`
}

// Notification is VnfLcmOperationOccurrenceNotification, VnfIdentifierCreationNotification or
// VnfIdentifierDeletionNotification: the last two have no attributes of an operation.
type Notification struct {
	ID             string    `json:"id"`
	Type           string    `json:"notificationType"`
	SubscriptionID string    `json:"subscriptionId"`
	TimeStamp      time.Time `json:"timeStamp"`
	InstanceID     string    `json:"vnfInstanceId"`

	Status      string            `json:"notificationStatus,omitempty"`
	State       string            `json:"operationState,omitempty"`
	Operation   string            `json:"operation,omitempty"`
	Automatic   *bool             `json:"isAutomaticInvocation,omitempty"`
	Verbosity   string            `json:"verbosity,omitempty"`
	OperationID string            `json:"vnfLcmOpOccId,omitempty"`
	VNFCs       []AffectedVNFC    `json:"affectedVnfcs,omitempty"`
	Storages    []AffectedStorage `json:"affectedVirtualStorages,omitempty"`
	VLs         []LinkInfo        `json:"affectedVirtualLinks,omitempty"`
	Connected   []ExtLinkInfo     `json:"changedExtConnectivity,omitempty"`
	Changed     *ModifyRequest    `json:"changedInfo,omitempty"`
	Triggered   *PackageModified  `json:"modificationsTriggeredByVnfPkgChange,omitempty"`
	Error       *Problem          `json:"error,omitempty"`
	Own         *NotificationNote `json:"vimbroker,omitempty"`
	Links       Links             `json:"_links"`
}

// NotificationNote holds the values that the standard has no place for.
type NotificationNote struct {
	// Number counts the changes of state of the operation, from 1.
	Number int64 `json:"number"`
}

// The statuses of notifications.
const (
	Start  = "START"
	Result = "RESULT"
)
