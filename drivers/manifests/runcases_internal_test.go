package manifests

import (
	"fmt"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// scenario is a wave, and what the cluster answers.
type scenario struct {
	name    string
	wave    lifecycle.Wave
	answers answers
	timing  timing
}

// timing is when a wave's time is over, when it is stopped, and its shortest pause. sorted: its requests go side by side.
type timing struct {
	late, stop, pause time.Duration
	sorted            bool
}

func runs() []scenario {
	var all []scenario
	for _, some := range [][]scenario{applying(), waitingFor(), scalingTo(), replacingPods(), removing()} {
		all = append(all, some...)
	}
	return all
}

const (
	readyPod   = `{"metadata":{"name":%q,"uid":%[1]q,"labels":{"vimbroker.io/instance":"i","vimbroker.io/vdu":%[2]q}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`
	unreadyPod = `{"metadata":{"name":%q,"uid":%[1]q,"labels":{"vimbroker.io/instance":"i","vimbroker.io/vdu":%[2]q}},"status":{"containerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull","message":"no image"}}}]}}`
)

func applying() []scenario {
	apply := func(all ...lifecycle.Object) lifecycle.Wave { return deedOf(lifecycle.Apply, all...) }
	aMade := sent(aMap, `,"data":{"n":12345678901234567890,"t":"<&>"}`)
	aMade.Wave, aMade.VDU = 3, ""
	named := sent(aMap, "")
	scaledWeb, unscaledWeb := applied(sent(web, `,"spec":{"replicas":3,"a":1}`)), applied(sent(web, `,"spec":{"a":1}`))
	owned := thereWith(web, ownsNumber, numbered(5, 5))
	released := aMade
	released.Release, released.Applied = ReleaseOf("n", "r"), "none"
	recorded := applied(aMade)
	recorded.UID = "uid-a"
	return []scenario{
		{"made", apply(aMade), answers{patchOf(aMap): {there(aMap, "")}}, timing{}},
		{"made as another", apply(named), answers{patchOf(aMap): {there(anotherMap, "")}}, timing{}},
		{"made as another's", apply(named), answers{patchOf(aMap): {strings.Replace(there(aMap, ""), `:"i"`, `:"j"`, 1)}}, timing{}},
		{"made by a page", apply(named), answers{patchOf(aMap): {"page"}}, timing{}},
		{"a manifest that is none", apply(lifecycle.Object{Resource: aMap}), nil, timing{}},
		{"changed", apply(applied(aMade)), answers{getOf(aMap): {there(aMap, "")}, patchOf(aMap): {there(aMap, "")}}, timing{}},
		{"made again", apply(applied(aMade)), answers{getOf(aMap): {gone(aMap)}, patchOf(aMap): {there(aMap, "")}}, timing{}},
		{"not seen", apply(applied(aMade)), answers{getOf(aMap): {forbidden}}, timing{}},
		{"another's", apply(applied(aMade)), answers{getOf(aMap): {theirMap}}, timing{}},
		{"one of the release", apply(released), answers{getOf(aMap): {strings.Replace(thereWith(aMap, `,"annotations":{"meta.helm.sh/release-name":"r","meta.helm.sh/release-namespace":"n"}`, ""), `:"i"`, `:"j"`, 1)}, patchOf(aMap): {there(aMap, "")}}, timing{}},
		{"one without its label", apply(recorded), answers{getOf(aMap): {strings.Replace(there(aMap, ""), `:"i"`, `:"j"`, 1)}, patchOf(aMap): {there(aMap, "")}}, timing{}},
		{"there after all", apply(aMade), answers{patchOf(aMap): {conflictOf(aMap), there(aMap, "")}, getOf(aMap): {there(aMap, "")}}, timing{}},
		{"another's after all", apply(aMade), answers{patchOf(aMap): {conflictOf(aMap)}, getOf(aMap): {theirMap}}, timing{}},
		{"going", apply(applied(aMade)), answers{getOf(aMap): {goingMap, goingMap, gone(aMap)}, patchOf(aMap): {there(aMap, "")}}, timing{}},
		{"going for too long", apply(applied(aMade)), answers{getOf(aMap): {thereWith(aMap, `,"deletionTimestamp":"x","finalizers":["kubernetes.io/pvc-protection"]`, "")}}, timing{late: 130 * time.Millisecond}},
		{"going until stopped", apply(applied(aMade)), answers{getOf(aMap): {goingMap}}, timing{stop: 130 * time.Millisecond}},
		{"changed by others again and again", apply(aMade), answers{patchOf(aMap): {conflictOf(aMap)}, getOf(aMap): {there(aMap, "")}}, timing{late: 130 * time.Millisecond}},
		{"refused", apply(aMade), answers{patchOf(aMap): {forbidden}}, timing{}},
		{"a conflict of a gateway", apply(aMade), answers{patchOf(aMap): {"409 x"}}, timing{}},
		{"not answered", apply(aMade), answers{patchOf(aMap): {"998 "}}, timing{late: time.Second}},
		{"not answered until stopped", apply(aMade), answers{patchOf(aMap): {"998 "}}, timing{stop: time.Second}},
		{"not seen until stopped", apply(applied(aMade)), answers{getOf(aMap): {"998 "}}, timing{stop: time.Second}},
		{"two kinds in their order", apply(sent(aSecret, ""), sent(aMap, ""), sent(anotherMap, "")), answers{
			patchOf(aSecret): {there(aSecret, "")}, patchOf(aMap): {there(aMap, "")}, patchOf(anotherMap): {there(anotherMap, "")},
		}, timing{sorted: true}},
		{"the first of two kinds refused", apply(sent(aSecret, ""), sent(aMap, "")), answers{patchOf(aSecret): {forbidden}}, timing{}},
		{"nothing", apply(), nil, timing{}},
		// The number of replicas, and autoscalers.
		{"a number that nobody sets", apply(scaledWeb), answers{getOf(web): {owned}, listScalers: {scalersOf("j", "other")}, patchOf(web): {there(web, numbered(3, 3))}, listPods: {podsOf()}}, timing{}},
		{"a number that an autoscaler sets", apply(scaledWeb), answers{getOf(web): {owned}, listScalers: {scalersOf("j", "web")}, patchOf(web): {there(web, numbered(5, 5))}, listPods: {podsOf()}}, timing{}},
		{"a number that the package's autoscaler sets", apply(scaledWeb), answers{getOf(web): {owned}, listScalers: {scalersOf("i", "web")}, patchOf(web): {there(web, numbered(3, 3))}, listPods: {podsOf()}}, timing{}},
		{"a cluster without autoscalers", apply(scaledWeb), answers{getOf(web): {owned}, listScalers: {"404 x"}, patchOf(web): {there(web, numbered(3, 3))}, listPods: {podsOf()}}, timing{}},
		{"autoscalers that are not seen", apply(scaledWeb), answers{getOf(web): {owned}, listScalers: {forbidden}}, timing{}},
		{"a number that is handed over", apply(unscaledWeb), answers{getOf(web): {owned}, patchOf(web): {there(web, numbered(5, 5))}, listPods: {podsOf()}}, timing{}},
		{"a number that is not handed over", apply(unscaledWeb), answers{getOf(web): {owned}, patchOf(web): {forbidden}}, timing{}},
		{"a number that is handed over in a conflict", apply(unscaledWeb), answers{getOf(web): {owned}, patchOf(web): {conflictOf(web), there(web, numbered(5, 5))}, listPods: {podsOf()}}, timing{}},
		{"a number that is another's", apply(unscaledWeb), answers{getOf(web): {thereWith(web, "", numbered(5, 5))}, patchOf(web): {there(web, numbered(5, 5))}, listPods: {podsOf()}}, timing{}},
		{"autoscalers are asked for once", apply(scaledWeb, applied(sent(otherWeb, `,"spec":{"replicas":2}`))), answers{
			getOf(web): {owned}, getOf(otherWeb): {there(otherWeb, numbered(2, 2))}, listScalers: {scalersOf("j", "other")}, patchOf(web): {there(web, numbered(3, 3))}, patchOf(otherWeb): {there(otherWeb, numbered(2, 2))}, listPods: {podsOf()},
		}, timing{sorted: true}},
	}
}

func waitingFor() []scenario {
	apply := func(all ...lifecycle.Object) lifecycle.Wave { return deedOf(lifecycle.Apply, all...) }
	pods := func(all ...string) string { return `{"kind":"PodList","items":[` + strings.Join(all, ",") + `]}` }
	fine, bad := fmt.Sprintf(readyPod, "p1", "web"), fmt.Sprintf(unreadyPod, "p2", "web")
	others := fmt.Sprintf(readyPod, "p0", "other")
	set := sent(aSet, `,"spec":{"replicas":2}`)
	setThere := func(ready int, more string) string {
		return there(aSet, strings.Replace(numbered(2, ready), `"replicas":2}`, `"replicas":2`+withClaims+more+`}`, 1))
	}
	pending := there(aClaim, `,"status":{"phase":"Pending"}`)
	bound := there(aClaim, `,"status":{"phase":"Bound"}`)
	job := func(condition string) string {
		return there(aJob, `,"spec":{},"status":{"conditions":[`+condition+`]}`)
	}
	unready := there(web, numbered(2, 1))
	var six []lifecycle.Object
	sixth := answers{}
	for i := range 6 {
		r := aMap
		r.Name = fmt.Sprint("m", i)
		six = append(six, sent(r, ""))
		sixth[patchOf(r)], sixth[getOf(r)] = []string{thereWith(r, `,"deletionTimestamp":"x"`, "")}, []string{thereWith(r, `,"deletionTimestamp":"x"`, "")}
	}
	return []scenario{
		{"a workload that becomes ready", apply(sent(web, "")), answers{patchOf(web): {unready}, getOf(web): {unready, unready, there(web, numbered(2, 2))}, listPods: {pods(bad, fine, others)}}, timing{}},
		{"pods that are not seen in the end", apply(sent(web, "")), answers{patchOf(web): {there(web, numbered(2, 2))}, listPods: {forbidden}}, timing{}},
		{"why it is not ready is told, once", apply(sent(web, "")), answers{patchOf(web): {unready}, getOf(web): append(repeated(unready, 12), there(web, numbered(2, 2))), listPods: {pods(fine, bad)}}, timing{}},
		{"why it is not ready, until the time is over", apply(sent(web, "")), answers{patchOf(web): {unready}, getOf(web): {unready}, listPods: {pods(bad)}}, timing{late: 4 * time.Second}},
		{"stopped while it waits", apply(sent(web, "")), answers{patchOf(web): {unready}, getOf(web): {unready}, listPods: {pods(bad)}}, timing{stop: 500 * time.Millisecond}},
		{"not answered while it waits", apply(sent(web, "")), answers{patchOf(web): {unready}, getOf(web): {"998 "}, listPods: {pods(bad)}}, timing{late: time.Second}},
		{"refused while it waits", apply(sent(web, "")), answers{patchOf(web): {unready}, getOf(web): {forbidden}}, timing{}},
		{"removed while it waits", apply(sent(web, "")), answers{patchOf(web): {unready}, getOf(web): {gone(web)}}, timing{late: 300 * time.Millisecond}},
		{"another's while it waits", apply(sent(web, "")), answers{patchOf(web): {unready}, getOf(web): {strings.NewReplacer(`:"i"`, `:"j"`, "uid-web", "uid-2").Replace(unready)}}, timing{late: 300 * time.Millisecond}},
		{"one of two is late", apply(sent(aMap, ""), sent(web, "")), answers{patchOf(aMap): {there(aMap, "")}, patchOf(web): {unready}, getOf(web): {unready, there(web, numbered(2, 2))}, listPods: {pods()}}, timing{}},
		{"one after the other is ready", apply(sent(aClaim, ""), sent(web, "")), answers{
			patchOf(aClaim): {pending}, getOf(aClaim): append(repeated(pending, 4), bound), patchOf(web): {unready}, getOf(web): append(repeated(unready, 6), there(web, numbered(2, 2))), listPods: {pods()}, events: {happened()},
		}, timing{sorted: true}},
		{"five are late", apply(six[:5]...), sixth, timing{late: 10 * time.Millisecond, sorted: true}},
		{"six are late", apply(six...), sixth, timing{late: time.Second, sorted: true}},
		{"a set that makes claims", apply(set), answers{patchOf(aSet): {setThere(2, "")}, listClaims: {claimsOf("Bound", "Bound")}, listPods: {pods(fine)}}, timing{}},
		{"a set whose claims go with it", apply(sent(bareSet, "")), answers{patchOf(bareSet): {setThere(2, `,"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}`)}, listClaims: {claimsOf("Bound")}}, timing{}},
		{"a set that is removed while it waits", apply(set), answers{patchOf(aSet): {setThere(0, "")}, getOf(aSet): {gone(aSet)}}, timing{late: 300 * time.Millisecond}},
		{"claims that are not seen in the end", apply(set), answers{patchOf(aSet): {setThere(2, "")}, listClaims: {forbidden}}, timing{}},
		{"a set whose claim has no volume", apply(set), answers{patchOf(aSet): {setThere(0, "")}, getOf(aSet): {setThere(0, "")}, listClaims: {claimsOf("Pending", "Bound")}, listPods: {pods()}, events: {happened("Failed", "no class", "1")}}, timing{late: 3 * time.Second}},
		{"a set whose pods are not made", apply(set), answers{patchOf(aSet): {setThere(0, "")}, getOf(aSet): {setThere(0, "")}, listClaims: {claimsOf("Bound")}, listPods: {pods(fine)}, events: {happened("FailedCreate", "exceeded quota: q", "1")}}, timing{late: 3 * time.Second}},
		{"workloads of two namespaces", apply(sent(web, ""), sent(otherWeb, ""), sent(webInM, "")), answers{
			patchOf(web): {there(web, numbered(2, 2))}, patchOf(otherWeb): {there(otherWeb, numbered(1, 1))}, patchOf(webInM): {there(webInM, numbered(1, 1))},
			listPods: {pods(fine, others)}, "GET /api/v1/namespaces/m/pods": {pods(fmt.Sprintf(readyPod, "m1", "web"))},
		}, timing{sorted: true}},
		{"workloads of two namespaces that are late", apply(sent(web, ""), sent(otherWeb, ""), sent(webInM, "")), answers{
			patchOf(web): {unready}, patchOf(otherWeb): {there(otherWeb, numbered(2, 1))}, patchOf(webInM): {there(webInM, numbered(2, 1))}, getOf(web): {unready}, getOf(otherWeb): {there(otherWeb, numbered(2, 1))}, getOf(webInM): {there(webInM, numbered(2, 1))},
			listPods: {pods(fine, bad, fmt.Sprintf(unreadyPod, "o1", "other"))}, "GET /api/v1/namespaces/m/pods": {pods(fmt.Sprintf(unreadyPod, "m1", "web"))},
		}, timing{late: time.Second, sorted: true}},
		{"a claim that waits for its consumer", apply(sent(aClaim, "")), answers{patchOf(aClaim): {pending}, getOf(aClaim): {pending}, events: {happened("WaitForFirstConsumer", "x", "1")}}, timing{}},
		{"a claim that gets a volume", apply(sent(aClaim, "")), answers{patchOf(aClaim): {pending}, getOf(aClaim): {pending, bound}, events: {happened("Provisioning", "soon", "1")}}, timing{}},
		{"a claim whose events are not seen", apply(sent(aClaim, "")), answers{patchOf(aClaim): {pending}, getOf(aClaim): {pending}, events: {forbidden}}, timing{}},
		{"a Job that ends", apply(sent(aJob, "")), answers{patchOf(aJob): {job("")}, getOf(aJob): {job(""), job(`{"type":"Complete","status":"True"}`)}}, timing{}},
		{"a Job that fails", apply(sent(aJob, "")), answers{patchOf(aJob): {job("")}, getOf(aJob): {job(`{"type":"Failed","status":"True","reason":"DeadlineExceeded","message":"too long"}`)}}, timing{}},
		{"a Job whose pods are not made", apply(sent(aJob, "")), answers{patchOf(aJob): {job("")}, getOf(aJob): {job("")}, events: {happened("FailedCreate", "x", "1")}}, timing{late: time.Second}},
		{"a Job that has passed", apply(sent(passingJob, "")), answers{patchOf(aJob): {thereWith(aJob, fmt.Sprintf(managedBy, "kubectl", "1"), "")}, getOf(aJob): {gone(aJob)}, events: {happened("Completed", "x", "1")}}, timing{}},
		{"a Job that has failed and passed", apply(sent(passingJob, "")), answers{patchOf(aJob): {job("")}, getOf(aJob): {gone(aJob)}, events: {happened(), happened("FailedIndexes", "x", "1")}}, timing{}},
		{"a Job whose events are not seen", apply(sent(passingJob, "")), answers{patchOf(aJob): {job("")}, getOf(aJob): {gone(aJob)}, events: {forbidden, happened("Completed", "x", "1")}}, timing{}},
		{"a Job whose later events are not seen", apply(sent(passingJob, "")), answers{patchOf(aJob): {job("")}, getOf(aJob): {gone(aJob)}, events: {happened(), forbidden}}, timing{}},
		{"why it is not ready, at the moment and after it", apply(sent(web, "")), answers{patchOf(web): {unready}, getOf(web): append(repeated(unready, 52), there(web, numbered(2, 2))), listPods: {pods(bad)}}, timing{late: 2 * time.Minute, pause: time.Second}},
		{"why it is not ready, of what is not over yet", apply(sent(web, ""), sent(otherWeb, "")), answers{
			patchOf(web): {unready}, getOf(web): append(repeated(unready, 8), there(web, numbered(2, 2))), patchOf(otherWeb): {there(otherWeb, numbered(2, 1))}, getOf(otherWeb): append(repeated(there(otherWeb, numbered(2, 1)), 9), there(otherWeb, numbered(2, 2))),
			listPods: {pods(bad, fmt.Sprintf(unreadyPod, "o1", "other"))},
		}, timing{sorted: true}},
		{"what fails at once", apply(sent(web, "")), answers{patchOf(web): {failedWeb}, listPods: {pods(bad)}}, timing{}},
		{"a Job that is gone", apply(sent(passingJob, "")), answers{patchOf(aJob): {job("")}, getOf(aJob): {gone(aJob)}, events: {happened()}}, timing{late: 300 * time.Millisecond}},
		{"taken by others while it waits", apply(sent(aClaim, "")), answers{
			patchOf(aClaim): {thereWith(aClaim, fmt.Sprintf(managedBy, "kubectl", "1"), `,"status":{"phase":"Pending"}`)},
			getOf(aClaim):   {strings.Replace(thereWith(aClaim, fmt.Sprintf(managedBy, "kubectl", "3"), `,"status":{"phase":"Bound"}`), "f:data", "f:other", 1)}, events: {happened()},
		}, timing{}},
		{"taken by others before", apply(sent(aClaim, "")), answers{
			patchOf(aClaim): {thereWith(aClaim, fmt.Sprintf(managedBy, "kubectl", "1"), `,"status":{"phase":"Pending"}`)},
			getOf(aClaim):   {strings.Replace(thereWith(aClaim, fmt.Sprintf(managedBy, "kubectl", "1"), `,"status":{"phase":"Bound"}`), "f:data", "f:other", 1)}, events: {happened()},
		}, timing{}},
	}
}

// slowly says that a resource is not there, after a while.
func slowly(r lifecycle.Resource) string { return strings.Replace(gone(r), "404", "999", 1) }

// failedWeb is a Deployment that has given up.
var failedWeb = there(web, `,"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":2,"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded","message":"timed out"}]}`)

func repeated(answer string, n int) (all []string) {
	for range n {
		all = append(all, answer)
	}
	return all
}

func scalingTo() []scenario {
	two := standing(web)
	two.Replicas = 2
	scale := func(all ...lifecycle.Object) lifecycle.Wave { return deedOf(lifecycle.Scale, all...) }
	ready := there(web, numbered(2, 2))
	fine := answers{getOf(web): {there(web, numbered(1, 1)), there(web, numbered(2, 1)), ready}, scaleOf(web): {scaleDone}, listPods: {podsOf("a"), podsOf("a", "b")}}
	slices := standing(custom)
	slices.Replicas = 4
	return []scenario{
		{"scaled", scale(two), fine, timing{}},
		{"scaled, and another's", scale(two), with(fine, answers{getOf(web): {strings.Replace(ready, `:"i"`, `:"j"`, 1)}}), timing{}},
		{"scaled, and missing", scale(two), with(fine, answers{getOf(web): {gone(web)}}), timing{}},
		{"scaled, and not seen", scale(two), with(fine, answers{getOf(web): {forbidden}}), timing{}},
		{"scaled, and refused", scale(two), with(fine, answers{scaleOf(web): {forbidden}}), timing{}},
		{"scaled by a page", scale(two), with(fine, answers{scaleOf(web): {`{"kind":"Page"}`}}), timing{}},
		{"scaled, and not answered", scale(two), with(fine, answers{scaleOf(web): {"998 "}}), timing{late: time.Second}},
		{"scaled, and removed", scale(two), with(fine, answers{getOf(web): {ready, gone(web)}}), timing{}},
		{"scaled, and not seen later", scale(two), with(fine, answers{getOf(web): {ready, forbidden}}), timing{}},
		{"scaled, and never ready", scale(two), with(fine, answers{getOf(web): {there(web, numbered(2, 1))}}), timing{late: 300 * time.Millisecond}},
		{"scaled, with pods that are not seen", scale(two), with(fine, answers{getOf(web): {ready}, listPods: {forbidden}}), timing{}},
		{"scaled, with pods that are too few", scale(two), with(fine, answers{getOf(web): {ready}, listPods: {podsOf("a")}}), timing{late: 300 * time.Millisecond}},
		{"what runs no pods scaled", scale(slices), answers{getOf(custom): {there(custom, `,"spec":{"replicas":4}`)}, scaleOf(custom): {scaleDone}, listPods: {podsOf("a")}}, timing{}},
		{"taken by others since it was scaled", scale(two), with(fine, answers{getOf(web): {
			ready, thereWith(web, fmt.Sprintf(managedBy, "kubectl", "1"), numbered(2, 1)), strings.Replace(thereWith(web, fmt.Sprintf(managedBy, "kubectl", "3"), numbered(2, 2)), "f:data", "f:other", 1),
		}}), timing{}},
		{"scaled, and failed", scale(two), with(fine, answers{getOf(web): {ready, failedWeb}}), timing{}},
		{"two scaled, and the second missing", scale(two, standing(otherWeb)), with(fine, answers{getOf(web): {ready}, getOf(otherWeb): {gone(otherWeb)}}), timing{}},
	}
}

func replacingPods() []scenario {
	pod := lifecycle.Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespace: "n", Name: "old"}
	own := there(pod, "")
	ready := there(web, numbered(2, 2))
	fine := answers{getOf(web): {ready}, getOf(pod): {own}, deleteOf(pod): {done}, listPods: {podsOf("new", "uid-old"), podsOf("new", "slow"), podsOf("new", "other")}}
	w := replacing("uid-old", standing(web))
	solo := replacing("uid-old", sent(aPod, ""))
	soloThere := there(aPod, `,"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`)
	return []scenario{
		{"replaced", w, fine, timing{}},
		{"replaced, and gone before", w, with(fine, answers{getOf(pod): {gone(pod)}}), timing{}},
		{"replaced, and going", w, with(fine, answers{getOf(pod): {thereWith(pod, `,"deletionTimestamp":"x"`, "")}}), timing{}},
		{"replaced, and another's", w, with(fine, answers{getOf(pod): {strings.Replace(own, `:"i"`, `:"j"`, 1)}}), timing{}},
		{"replaced, and gone meanwhile", w, with(fine, answers{deleteOf(pod): {gone(pod)}}), timing{}},
		{"replaced meanwhile", w, with(fine, answers{deleteOf(pod): {conflictOf(pod)}}), timing{}},
		{"replaced, and refused", w, with(fine, answers{deleteOf(pod): {forbidden}}), timing{}},
		{"replaced by a page", w, with(fine, answers{deleteOf(pod): {"{}"}}), timing{}},
		{"replaced, and not answered", w, with(fine, answers{deleteOf(pod): {"998 "}}), timing{late: time.Second}},
		{"replaced, and not seen", w, with(fine, answers{getOf(pod): {forbidden}}), timing{}},
		{"replaced, and the workload not seen", w, with(fine, answers{getOf(web): {forbidden}}), timing{}},
		{"replaced, and the workload gone", w, with(fine, answers{getOf(web): {gone(web)}}), timing{late: 300 * time.Millisecond}},
		{"replaced, and the workload late", w, with(fine, answers{getOf(web): {there(web, numbered(2, 1)), ready}}), timing{}},
		{"replaced, and the workload failed", w, with(fine, answers{getOf(web): {failedWeb}, listPods: {podsOf("new", "other")}}), timing{}},
		{"replaced, and the new are too few", w, with(fine, answers{listPods: {podsOf("new")}}), timing{late: 300 * time.Millisecond}},
		{"replaced in two workloads", replacing("uid-old", standing(web), standing(webInM)), with(fine, answers{getOf(webInM): {there(webInM, numbered(0, 0))}, "GET /api/v1/namespaces/m/pods": {podsOf()}}), timing{sorted: true}},
		{"replaced, and pods not seen", w, with(fine, answers{listPods: {forbidden}}), timing{}},
		{"a pod that nothing makes again", solo, answers{getOf(pod): {own}, deleteOf(pod): {done}, patchOf(aPod): {soloThere}, getOf(aPod): {soloThere}, listPods: {podsOf("solo")}}, timing{}},
		{"a pod that is not made again", solo, answers{getOf(pod): {own}, deleteOf(pod): {done}, patchOf(aPod): {forbidden}}, timing{}},
		{"taken by others since it was replaced", w, with(fine, answers{getOf(web): {
			thereWith(web, fmt.Sprintf(managedBy, "kubectl", "1"), numbered(2, 1)), strings.Replace(thereWith(web, fmt.Sprintf(managedBy, "kubectl", "3"), numbered(2, 2)), "f:data", "f:other", 1),
		}, listPods: {podsOf("new", "other")}}), timing{}},
	}
}

func removing() []scenario {
	remove := func(all ...lifecycle.Resource) lifecycle.Wave {
		w := lifecycle.Wave{Deed: lifecycle.Delete}
		for _, r := range all {
			w.Objects = append(w.Objects, standing(r))
		}
		return w
	}
	ours := there(aMap, "")
	finalized := thereWith(custom, `,"finalizers":["g/f"]`, "")
	return []scenario{
		{"removed", remove(aMap), answers{getOf(aMap): {ours, goingMap, gone(aMap)}, deleteOf(aMap): {done}}, timing{}},
		{"removed, with what it owns", remove(web), answers{getOf(web): {there(web, numbered(2, 2)), gone(web)}, deleteOf(web): {done}}, timing{}},
		{"removed, and going before", remove(aMap), answers{getOf(aMap): {goingMap, goingMap, gone(aMap)}}, timing{}},
		{"removed, and gone before", remove(aMap), answers{getOf(aMap): {gone(aMap)}}, timing{}},
		{"removed, and another's", remove(aMap), answers{getOf(aMap): {theirMap}}, timing{}},
		{"removed, and gone meanwhile", remove(aMap), answers{getOf(aMap): {ours}, deleteOf(aMap): {gone(aMap)}}, timing{}},
		{"removed, and another's meanwhile", remove(aMap), answers{getOf(aMap): {ours, strings.Replace(ours, "uid-a", "uid-2", 1)}, deleteOf(aMap): {conflictOf(aMap)}}, timing{}},
		{"removed, and gone in a conflict", remove(aMap), answers{getOf(aMap): {ours, gone(aMap)}, deleteOf(aMap): {conflictOf(aMap)}}, timing{}},
		{"removed, and there in a conflict", remove(aMap), answers{getOf(aMap): {ours}, deleteOf(aMap): {conflictOf(aMap)}}, timing{}},
		{"removed, and not seen in a conflict", remove(aMap), answers{getOf(aMap): {ours, forbidden}, deleteOf(aMap): {conflictOf(aMap)}}, timing{}},
		{"removed, and refused", remove(aMap), answers{getOf(aMap): {ours}, deleteOf(aMap): {forbidden}}, timing{}},
		{"removed by a page", remove(aMap), answers{getOf(aMap): {ours}, deleteOf(aMap): {"{}"}}, timing{}},
		{"removed, and not seen", remove(aMap), answers{getOf(aMap): {forbidden}}, timing{}},
		{"removed, and not answered", remove(aMap), answers{getOf(aMap): {ours}, deleteOf(aMap): {"998 "}}, timing{late: time.Second}},
		{"removed, and never gone", remove(aClaim), answers{getOf(aClaim): {thereWith(aClaim, `,"deletionTimestamp":"x","finalizers":["kubernetes.io/pvc-protection","x/y"]`, "")}}, timing{late: 500 * time.Millisecond}},
		{"a namespace that is never gone", remove(aNamespace), answers{getOf(aNamespace): {thereWith(aNamespace, `,"deletionTimestamp":"x"`, `,"status":{"conditions":[{"type":"NamespaceContentRemaining","status":"True","reason":"SomeResourcesRemain","message":"pods"}]}`)}}, timing{late: 500 * time.Millisecond}},
		{"a set that is never gone", remove(aSet), answers{getOf(aSet): {thereWith(aSet, `,"deletionTimestamp":"x"`, numbered(2, 2))}, listPods: {podsOf("a")}}, timing{late: 3 * time.Second}},
		{"what its controller ends", remove(custom), answers{getOf(custom): {finalized, finalized, gone(custom)}, deleteOf(custom): {done}}, timing{}},
		{"custom resources before others", remove(aMap, aSecret, custom), answers{
			getOf(aMap): {ours, gone(aMap)}, deleteOf(aMap): {done}, getOf(aSecret): {there(aSecret, ""), gone(aSecret)}, deleteOf(aSecret): {done}, getOf(custom): {there(custom, ""), gone(custom)}, deleteOf(custom): {done},
		}, timing{sorted: true}},
		{"one kind together", remove(aMap, anotherMap, aSecret), answers{
			getOf(aMap): {ours, gone(aMap)}, deleteOf(aMap): {done}, getOf(anotherMap): {there(anotherMap, ""), gone(anotherMap)}, deleteOf(anotherMap): {done}, getOf(aSecret): {there(aSecret, ""), gone(aSecret)}, deleteOf(aSecret): {done},
		}, timing{sorted: true}},
		{"one kind after the other", remove(aMap, anotherMap, aSecret), answers{
			getOf(aMap): {slowly(aMap)}, getOf(anotherMap): {slowly(anotherMap)}, getOf(aSecret): {gone(aSecret)},
		}, timing{sorted: true}},
		{"one group after the other", remove(custom, customOfH), answers{getOf(custom): {slowly(custom)}, getOf(customOfH): {gone(customOfH)}}, timing{}},
		{"custom resources are awaited before others go", remove(aMap, custom), answers{getOf(aMap): {gone(aMap)}, getOf(custom): {thereWith(custom, `,"deletionTimestamp":"x"`, ""), gone(custom)}}, timing{}},
		{"the first of two refused", remove(custom, aMap), answers{getOf(custom): {forbidden}}, timing{}},
	}
}
