package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) vnfSubscriptionCommand() *cobra.Command {
	return console.Group("subscription", "Have an endpoint told what becomes of VNF instances",
		`A subscription has notifications posted to an endpoint: of operations, at each
change of their state, and of instances that are made and deleted (ETSI GS
NFV-SOL003). Those about one operation come in their order, each at least once;
one that is repeated has the same id. An endpoint that takes none is tried
again, and "show" says why; after a day a notification is given up.`,
		`  vimbroker vnf subscription create https://nfvo.example.org/notify \
      --state COMPLETED --state FAILED_TEMP
  vimbroker vnf subscription show 3f0c9c0e`,
		p.vnfSubscriptionCreateCommand(),
		vnfSubscriptions.listed(p, &cobra.Command{
			Use:     "list",
			Short:   "List subscriptions",
			Long:    "List the subscriptions that you may see, newest first.",
			Example: "  vimbroker vnf subscription list",
		}, p.subscriptionTable),
		show(p, vnfSubscriptions.argument(p), &cobra.Command{
			Use:     "show SUBSCRIPTION",
			Short:   "Show one subscription",
			Long:    "Show one subscription, and how far its endpoint was told. What authenticates\nthe server to the endpoint is shown nowhere.",
			Example: "  vimbroker vnf subscription show 3f0c9c0e",
		}, (*client.Client).Subscription, printed(p, p.subscriptionFacts)),
		act(p, vnfSubscriptions.argument(p), &cobra.Command{
			Use:     "delete SUBSCRIPTION",
			Short:   "End a subscription",
			Long:    "End a subscription. Notifications that were not sent yet are not sent any more.",
			Example: "  vimbroker vnf subscription delete 3f0c9c0e",
		}, (*client.Client).Unsubscribe),
	)
}

// subscriptionFlags say whom a subscription is to tell of what.
type subscriptionFlags struct {
	vnfds, instances, names, types, operations, states []string
	user, passwordFile                                 string
	clientID, clientPasswordFile, tokenEndpoint        string
	tls, short                                         bool
}

func (p *program) vnfSubscriptionCreateCommand() *cobra.Command {
	var f subscriptionFlags
	c := free.command(p, &cobra.Command{
		Use:   "create URI",
		Short: "Subscribe an endpoint",
		Long: `Subscribe an endpoint to the VNF instances of your project. It is asked with
GET first, and must answer 204. Flags select what it is told of; without
one it is told of everything. Of a flag that is repeated one value is enough. A
subscription that is there already is left as it is, and its id is shown.`,
		Example: `  vimbroker vnf subscription create https://nfvo.example.org/notify
  vimbroker vnf subscription create https://nfvo.example.org/notify \
      --basic-user vimbroker --basic-password-file password
  vimbroker vnf subscription create https://nfvo.example.org/notify \
      --oauth-client vimbroker --oauth-password-file password \
      --oauth-token-endpoint https://login.example.org/oauth2/token`,
	}, func(c *cobra.Command, uri string, registry *client.Client) error {
		r, err := f.request(p, uri)
		if err != nil {
			return err
		}
		id, made, err := registry.Subscribe(c.Context(), r)
		if err != nil {
			return err
		}
		if !made {
			fmt.Fprintln(p.Err, "such a subscription is there already")
		}
		return answered(printed(p, p.subscriptionFacts))(registry.Subscription(c.Context(), id))
	})
	flags := c.Flags()
	flags.StringArrayVar(&f.vnfds, "vnfd", nil, "only instances of this VNFD; can be repeated")
	flags.StringArrayVar(&f.instances, "instance", nil, "only the instance of this id; can be repeated")
	flags.StringArrayVar(&f.names, "name", nil, "only instances of this name; can be repeated")
	flags.StringArrayVar(&f.types, "type", nil, "only notifications of this type; can be repeated")
	flags.StringArrayVar(&f.operations, "operation", nil, "only operations of this type, as INSTANTIATE; can be repeated")
	flags.StringArrayVar(&f.states, "state", nil, "only operations that come into this state; can be repeated")
	flags.BoolVar(&f.short, "short", false, "leave out what operations have changed")
	flags.StringVar(&f.user, "basic-user", "", "user name that the server shows the endpoint")
	flags.StringVar(&f.passwordFile, "basic-password-file", "", "file with its password (- is standard input)")
	flags.StringVar(&f.clientID, "oauth-client", "", "client id with which the server gets access tokens for the endpoint")
	flags.StringVar(&f.clientPasswordFile, "oauth-password-file", "", "file with its password (- is standard input)")
	flags.StringVar(&f.tokenEndpoint, "oauth-token-endpoint", "", "URL of the token endpoint")
	flags.BoolVar(&f.tls, "tls-cert", false, "have the server show its client certificate")
	console.MustComplete(c, "vnfd", vnfPackages.complete(p))
	console.MustChoose(c, "type",
		"VnfLcmOperationOccurrenceNotification", "VnfIdentifierCreationNotification", "VnfIdentifierDeletionNotification")
	console.MustChoose(c, "state", "STARTING", "PROCESSING", "COMPLETED", "FAILED_TEMP", "FAILED", "ROLLING_BACK", "ROLLED_BACK")
	p.OutputFlag(c)
	return c
}

func (f *subscriptionFlags) request(p *program, uri string) (r sol003.SubscriptionRequest, err error) {
	r.CallbackURI = uri
	if f.short {
		r.Verbosity = "SHORT"
	}
	filter := sol003.SubscriptionFilter{NotificationTypes: f.types, OperationTypes: f.operations, OperationStates: f.states}
	if len(f.vnfds)+len(f.instances)+len(f.names) > 0 {
		filter.Instances = &sol003.InstanceFilter{VNFDIDs: f.vnfds, InstanceIDs: f.instances, Names: f.names}
	}
	r.Filter = &filter
	var a sol003.SubscriptionAuthentication
	if f.user != "" || f.passwordFile != "" {
		a.AuthType, a.Basic = append(a.AuthType, "BASIC"), &sol003.BasicParams{UserName: f.user}
		if a.Basic.Password, err = p.secretFile("password", f.passwordFile); err != nil {
			return r, err
		}
	}
	if f.clientID != "" || f.clientPasswordFile != "" || f.tokenEndpoint != "" {
		a.AuthType, a.OAuth2 = append(a.AuthType, "OAUTH2_CLIENT_CREDENTIALS"),
			&sol003.OAuth2Params{ClientID: f.clientID, TokenEndpoint: f.tokenEndpoint}
		if a.OAuth2.ClientPassword, err = p.secretFile("client's password", f.clientPasswordFile); err != nil {
			return r, err
		}
	}
	if f.tls {
		a.AuthType = append(a.AuthType, "TLS_CERT")
	}
	if a.AuthType != nil {
		r.Authentication = &a
	}
	return r, nil
}

func (p *program) subscriptionTable(w io.Writer, all []sol003.Subscription) {
	p.Header(w, []string{"ID", "CALLBACK", "STATE", "SENT", "WAITING", "GIVEN UP"}, "WHY", "PROJECT")
	for _, s := range all {
		var own sol003.SubscriptionDetail
		if s.Own != nil {
			own = *s.Own
		}
		p.Columns(w, []string{
			p.id(s.ID), p.Cut(s.CallbackURI), subscriptionState(own), strconv.FormatInt(own.Delivered, 10), strconv.Itoa(own.Waiting),
			strconv.FormatInt(own.GivenUp, 10),
		}, own.Fault, own.Project)
	}
}

// subscriptionState says whether the endpoint takes its notifications.
func subscriptionState(own sol003.SubscriptionDetail) string {
	if own.Failures > 0 {
		return "failing"
	}
	return "ok"
}

func (p *program) subscriptionFacts(w io.Writer, s sol003.Subscription) {
	console.Facts(w, "Id", s.ID, "Callback", s.CallbackURI, "Verbosity", s.Verbosity)
	if f := s.Filter; f != nil {
		if i := f.Instances; i != nil {
			console.Facts(w, "VNFDs", strings.Join(i.VNFDIDs, ", "),
				"Instances", strings.Join(append(i.InstanceIDs, i.Names...), ", "))
		}
		console.Facts(w, "Types", strings.Join(f.NotificationTypes, ", "),
			"Operations", strings.Join(f.OperationTypes, ", "), "States", strings.Join(f.OperationStates, ", "))
	}
	own := s.Own
	if own == nil {
		return
	}
	console.Facts(w, "Authentication", strings.Join(own.AuthType, ", "), "Project", own.Project,
		"Created", p.Moment(own.CreatedAt)+" by "+own.CreatedBy, "State", subscriptionState(*own))
	if own.FailingSince != nil {
		console.Facts(w, "Failing since", p.Moment(*own.FailingSince))
	}
	console.Facts(w, "Why", own.Fault, "Sent", strconv.FormatInt(own.Delivered, 10), "Waiting", strconv.Itoa(own.Waiting),
		"Given up", strconv.FormatInt(own.GivenUp, 10))
}
