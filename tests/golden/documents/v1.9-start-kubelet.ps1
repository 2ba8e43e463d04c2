./start-kubelet.ps1 -ClusterCidr
