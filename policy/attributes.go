package policy

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	cedar "github.com/cedar-policy/cedar-go"
)

// What policies see of each thing, under the names of the schema; see [attributesOf]. What is worked out of several
// fields is beside.
var (
	ofPrincipal = attributesOf[Principal]("name project roles actor")
	ofResource  = map[Kind]attributes[Resource]{
		KindVIM:          attributesOf[Resource]("name=VIMName type=VIMType shared sharedWith"),
		KindLease:        attributesOf[Resource]("owner vimProject vimName vimType"),
		KindVNFInstance:  attributesOf[Resource]("owner name vnfdId vimName vimType"),
		KindLink:         attributesOf[Resource]("owner name vimName vimType shared sharedWith"),
		KindVolume:       attributesOf[Resource]("owner name vimName vimType shared sharedWith"),
		KindPackage:      attributesOf[Resource]("provider product version signer"),
		KindGrant:        attributesOf[Resource]("owner vnfdId instance=Name"),
		KindSubscription: attributesOf[Resource]("owner"),
		KindClient:       attributesOf[Resource]("name roles"),
	}
	// Of a wish, the values granted, not those asked for.
	ofWish  = attributesOf[Wish]("for ttlSeconds=TTL role namespaces purpose grade clusterWide standing")
	ofRules = attributesOf[LeaseRules]("resources verbs")
	ofDraft = attributesOf[VIMDraft]("name type endpointHost plainHTTP insecureSkipVerify serverName keyStore isDefault=Default inline " +
		"shared sharedBefore sharedWith sharedWithBefore vouches labels labelsBefore")
	ofPlan = attributesOf[OperationPlan]("vimName vimProject vimLabels vnfdId provider product softwareVersion kinds namespaces images " +
		"clusterScoped privileged bringsRBAC bringsDefinitions bringsWebhooks outlives reaches podSecurity")
)

// attributes are fields of T as Cedar's attributes.
type attributes[T any] []attribute

type attribute struct {
	name  cedar.String
	field int
}

// attributesOf reads the names of attributes: each is its field's but for the case of letters, or NAME=FIELD.
func attributesOf[T any](names string) attributes[T] {
	var all attributes[T]
	for name := range strings.FieldsSeq(names) {
		name, of, other := strings.Cut(name, "=")
		if !other {
			of = name
		}
		field, ok := reflect.TypeFor[T]().FieldByNameFunc(func(known string) bool { return strings.EqualFold(known, of) })
		if !ok {
			panic(fmt.Sprintf("%s has no field %s", reflect.TypeFor[T](), of))
		}
		all = append(all, attribute{cedar.String(name), field.Index[0]})
	}
	return all
}

// of are the attributes of one value: labels as "key=value", durations in seconds.
func (all attributes[T]) of(value T) cedar.RecordMap {
	record, from := make(cedar.RecordMap, len(all)+3), reflect.ValueOf(value)
	for _, a := range all {
		switch field := from.Field(a.field).Interface().(type) {
		case string:
			record[a.name] = cedar.String(field)
		case bool:
			record[a.name] = cedar.Boolean(field)
		case []string:
			record[a.name] = stringSet(field)
		case map[string]string:
			record[a.name] = labelSet(field)
		case time.Duration:
			record[a.name] = cedar.Long(secondsUp(field))
		}
	}
	return record
}

// labelSet writes labels as "key=value".
func labelSet(labels map[string]string) cedar.Set {
	pairs := make([]string, 0, len(labels))
	for key, value := range labels {
		pairs = append(pairs, key+"="+value)
	}
	return stringSet(pairs)
}

func stringSet(items []string) cedar.Set {
	values := make([]cedar.Value, len(items))
	for i, s := range items {
		values[i] = cedar.String(s)
	}
	return cedar.NewSet(values...)
}
