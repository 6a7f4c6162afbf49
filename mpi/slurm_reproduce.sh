#!/bin/bash
# The ERIK evaluation on a cluster with Slurm:  sbatch mpi/slurm_reproduce.sh [OPTION of poise reproduce]...
#
# Set the number of nodes and tasks as the cluster has them; sbatch's own options go before the name of this script:
#   sbatch --nodes=8 --partition=NAME mpi/slurm_reproduce.sh
# One task for each core, with one thread, shares the work best. A run that loses a node loses nothing that was finished: Slurm
# queues it again (--requeue), and it goes on where it was. So does the same command after a time limit.
#SBATCH --job-name=poise
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=32
#SBATCH --cpus-per-task=1
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=poise-%j.log
set -eu

# where poise-mpi is, and a folder that all nodes see
POISE_MPI=${POISE_MPI:-poise-mpi}
OUT=${OUT:-${SLURM_SUBMIT_DIR:-.}/reproduce}

# Open MPI under Slurm starts its ranks on the nodes of the job, as many as there are tasks
exec mpirun -n "${SLURM_NTASKS:-2}" "$POISE_MPI" reproduce erik-table8 erik-table9 --full --threads 1 -o "$OUT" "$@"
