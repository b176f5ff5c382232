// Package onboard makes VIMs of the clusters that Cluster API creates, and keeps them
// right: it registers a cluster once its control plane is up, follows its credential, and
// lets go of it when it is gone.
//
// A management cluster is a VIM on which Cluster API runs. [Onboarding.Enable] says which
// of its namespaces are watched and whose VIMs their clusters become. A job watches it, on
// one server at a time, with a lease of the broker's own that can get, list and watch. Each
// cluster is a row ([Cluster]) with a state ([State]), and is handled apart from all
// others, each time within a deadline.
//
// The management cluster's data is its tenants' word, and is not trusted: the secret of a cluster
// counts only if name, label and owner say so (see [ClusterSecret]), and where it leads is
// pinned. Nothing is removed on doubt: a cluster is gone when its management cluster says that
// this very object is not found, and not when a list lacks it.
package onboard
