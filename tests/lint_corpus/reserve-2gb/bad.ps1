C:\k\kubelet.exe --kubeconfig=C:\k\config --system-reserved=memory=1Gi,cpu=500m # here
