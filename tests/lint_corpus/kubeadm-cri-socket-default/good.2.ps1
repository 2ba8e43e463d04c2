# profile: 1.24/2022
kubeadm.exe join 10.0.0.1:6443 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash sha256:0 --cri-socket npipe:////./pipe/containerd-containerd
