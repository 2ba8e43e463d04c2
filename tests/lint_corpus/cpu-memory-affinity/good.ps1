C:\k\kubelet.exe --kubeconfig=C:\k\config --cpu-manager-policy=none
