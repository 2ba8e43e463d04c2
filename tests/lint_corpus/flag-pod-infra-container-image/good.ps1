# profile: 1.34/2022
C:\k\kubelet.exe --kubeconfig=C:\k\config --hostname-override=win01 --cgroups-per-qos=false --enforce-node-allocatable="" --resolv-conf="" `
  --pod-infra-container-image=registry.k8s.io/pause:3.10
