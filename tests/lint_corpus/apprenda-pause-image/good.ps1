# profile: 1.5/2016/docker
C:\k\kubelet.exe --kubeconfig=C:\k\config --hostname-override=win01 --cgroups-per-qos=false --enforce-node-allocatable="" --resolv-conf="" `
  --pod-infra-container-image=apprenda/pause
