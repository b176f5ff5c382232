// Command inventory lists the nodes of the clusters that a hub's ClusterProfile objects name, by the field's own library and
// the exec plugin of its provider file: one line for each profile.
//
//	inventory KUBECONFIG NAMESPACE PROVIDERS
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"
	"sigs.k8s.io/cluster-inventory-api/pkg/access"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	hub, err := versioned.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	providers, err := access.NewFromFile(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	profiles, err := hub.ApisV1alpha1().ClusterProfiles(os.Args[2]).List(ctx, metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range profiles.Items {
		nodes, err := nodesOf(ctx, providers, &p)
		if err != nil {
			fmt.Printf("%s refused %v\n", p.Name, err)
			continue
		}
		fmt.Printf("%s nodes %d\n", p.Name, nodes)
	}
}

func nodesOf(ctx context.Context, providers *access.Config, p *v1alpha1.ClusterProfile) (int, error) {
	config, err := providers.BuildConfigFromCP(p)
	if err != nil {
		return 0, err
	}
	cluster, err := kubernetes.NewForConfig(config)
	if err != nil {
		return 0, err
	}
	nodes, err := cluster.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	return len(nodes.Items), nil
}
